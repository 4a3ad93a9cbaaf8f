package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.adaptation.SiteAdapter.Block;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import io.plumbline.topology.assessment.AdaptationMessage.Adapt;
import io.plumbline.topology.assessment.AdaptationMessage.BlockRows;
import io.plumbline.wire.Printable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests to refit a site: pools the rows of each of its blocks, and refits together those whose refit is due.
 * A site with one target is one block. One task's; not thread-safe.
 */
final class RefitRequests {

    private static final Logger LOG = LoggerFactory.getLogger(RefitRequests.class);

    private final RowPools pools;
    private final RequestPool requests;
    private final AdaptationListener listener;

    /**
     * The answers to one request.
     *
     * @param blocks a report for each target that was refitted, by its name; none at a site with one target
     * @param all for the site
     */
    record Answered(Map<String, AdapterAnswer> blocks, AdapterAnswer all) {}

    /** A block that asks, with what it is refitted and judged on. */
    private record Asked(Block block, Adapt request, PooledRows rows) {

        String site() {
            return block.site();
        }
    }

    RefitRequests(RowPools pools, RequestPool requests, AdaptationListener listener) {
        this.pools = pools;
        this.requests = requests;
        this.listener = listener;
    }

    /**
     * Answers one request.
     *
     * @param active what is in service; null: the trained decoder
     * @param mayBegin whether the refit was not begun too often before; asked once, when it begins
     */
    Answered answer(
            SiteAdapter adapter,
            Adapt request,
            SwapState state,
            SwapDesk.Standing standing,
            @Nullable Active active,
            BooleanSupplier mayBegin,
            long nowMs) {
        AdapterAnswer without = adapter.desk().withoutRefit(request, state, standing, nowMs);
        SwapState.Fitted fitted = standing.version() == state.version() ? state.fitted() : null;
        List<Asked> asked = new ArrayList<>();
        for (BlockRows rows : request.blocks()) {
            Block block = adapter.block(rows.target());
            if (block == null) {
                String reason = rows.target() == null
                        ? "the request names none of the target layers that are watched here"
                        : "target layer %d is not watched here".formatted(rows.target());
                return said(adapter, request, Outcome.FAILED, reason, List.of());
            }
            if (without != null && without.outcome() == Outcome.PAUSED) {
                pools.refuse(block.site(), request.windowEndMs(), rows);
                continue;
            }
            try {
                PooledRows pooled = pools.add(
                        block.site(),
                        request.windowEndMs(),
                        rows,
                        adapter.poolLimits(),
                        block.explainer(),
                        fitted == null ? RowPool.NEVER : fitted.windowEndMs());
                asked.add(new Asked(block, request.of(rows), pooled));
            } catch (IllegalArgumentException e) {
                return said(adapter, request, Outcome.FAILED, block.says(String.valueOf(e.getMessage())), List.of());
            }
        }
        if (without != null) {
            return new Answered(Map.of(), without.pooled(rows(asked)));
        }
        List<Asked> due = asked.stream()
                .filter(one -> !pools.of(one.site()).rests(request.windowEndMs(), adapter.cooldown()))
                .toList();
        if (due.isEmpty()) {
            String reason = asked.stream()
                    .map(one -> one.block().says(rests(one, adapter)))
                    .collect(Collectors.joining("; "));
            return said(adapter, request, Outcome.POOLED, reason, rows(asked));
        }
        if (!mayBegin.getAsBoolean()) {
            return givenUp(adapter, request, due);
        }
        due.forEach(one -> listener.onSample(one.site(), one.rows().size()));
        return refit(adapter, request, due, state, standing, fitted, active, nowMs);
    }

    private String rests(Asked one, SiteAdapter adapter) {
        return ("the rows are pooled; the last refit is of the window up to %s, "
                        + "and cooldown allows the next %s after it")
                .formatted(Instant.ofEpochMilli(pools.of(one.site()).judgedMs()), adapter.cooldown());
    }

    private Answered givenUp(SiteAdapter adapter, Adapt request, List<Asked> due) {
        LOG.warn(
                "a refit was given up: site={} window_end={} reason={}",
                Printable.value(adapter.site()),
                Instant.ofEpochMilli(request.windowEndMs()),
                Printable.value(Attempts.GIVEN_UP));
        due.forEach(one -> {
            pools.empty(one.site());
            pools.judged(one.site(), request.windowEndMs(), 0);
        });
        return said(adapter, request, Outcome.FAILED, Attempts.GIVEN_UP, rows(due));
    }

    private Answered refit(
            SiteAdapter adapter,
            Adapt request,
            List<Asked> due,
            SwapState state,
            SwapDesk.Standing standing,
            SwapState.@Nullable Fitted fitted,
            @Nullable Active active,
            long nowMs) {
        long begin = System.nanoTime();
        List<ServingDecoder> serving = adapter.serving(active);
        List<JointAnswer.Part> parts = new ArrayList<>();
        for (Asked one : due) {
            boolean doubled = hasDoubled(one, fitted);
            AdapterAnswer answer = one.block()
                    .refit()
                    .adapt(
                            one.request(),
                            one.rows().with(requests.of(one.site())),
                            serving.get(adapter.blocks().indexOf(one.block())),
                            doubled
                                    ? adapter.settings().improvementLimits()
                                    : adapter.settings().limits());
            if (answer.outcome() != Outcome.POOLED) {
                pools.judged(
                        one.site(), request.windowEndMs(), doubled ? one.rows().size() : 0);
            }
            parts.add(new JointAnswer.Part(one.block(), answer.pooled(List.of(one.rows()))));
        }
        JointAnswer joint = new JointAnswer(adapter, request, parts, (System.nanoTime() - begin) / 1e9);
        AdapterAnswer all = joint.all(serving);
        Publication fittedDecoder = all.publication();
        if (fittedDecoder != null) {
            all = adapter.desk().fitted(all.report(), fittedDecoder, state, standing, nowMs);
        }
        return new Answered(joint.blocks(all), all);
    }

    /**
     * Returns whether an adapted decoder serves and there are twice the rows it was fitted on. At every doubling once,
     * so that chance is not asked until it says yes. Not for a target of several: how many of the rows of a version
     * were its own is not kept.
     */
    private boolean hasDoubled(Asked asked, SwapState.@Nullable Fitted fitted) {
        return fitted != null
                && !asked.block().id().isBlock()
                && asked.rows().size()
                        >= 2 * Math.max(fitted.rows(), pools.of(asked.site()).doubledRows());
    }

    private static List<PooledRows> rows(List<Asked> asked) {
        return asked.stream().map(Asked::rows).toList();
    }

    private static Answered said(
            SiteAdapter adapter, Adapt request, Outcome outcome, String reason, List<PooledRows> pooled) {
        AdaptationReport report = AdaptationReport.of(adapter.site(), request, outcome, reason, List.of(), 0.0);
        return new Answered(Map.of(), AdapterAnswer.said(report).pooled(pooled));
    }
}
