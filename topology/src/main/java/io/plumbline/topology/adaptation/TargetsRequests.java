package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.adaptation.TargetsRefit.Answers;
import io.plumbline.topology.adaptation.TargetsRefit.Asked;
import io.plumbline.topology.adaptation.TargetsRefit.Block;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import io.plumbline.topology.assessment.AdaptationMessage.Adapt;
import io.plumbline.topology.assessment.AdaptationMessage.AdaptBlocks;
import io.plumbline.topology.assessment.AdaptationMessage.BlockRows;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests to refit blocks of a site with several targets: pools the rows of each, and refits together those
 * whose refit is due. One task's; not thread-safe.
 */
final class TargetsRequests {

    private final RowPools pools;
    private final AdaptationListener listener;

    /**
     * The answers to one request.
     *
     * @param blocks a report for each block that was refitted, by its name
     * @param all for the site
     */
    record Answered(Map<String, AdapterAnswer> blocks, AdapterAnswer all) {}

    TargetsRequests(RowPools pools, AdaptationListener listener) {
        this.pools = pools;
        this.listener = listener;
    }

    /**
     * Answers one request.
     *
     * @param active what is in service; null: the trained decoders
     * @param mayBegin whether the refit was not begun too often before; asked once, when it begins
     */
    Answered answer(
            String site,
            SiteAdapter adapter,
            TargetsRefit targets,
            AdaptBlocks request,
            SwapState state,
            SwapDesk.Standing standing,
            @Nullable Active active,
            BooleanSupplier mayBegin,
            long nowMs) {
        AdapterAnswer without = adapter.desk().withoutRefit(request, state, standing, nowMs);
        SwapState.Fitted fitted = standing.version() == state.version() ? state.fitted() : null;
        List<Asked> due = new ArrayList<>();
        for (BlockRows rows : request.blocks()) {
            Block block = adapter.block(rows.target());
            if (block == null) {
                return said(
                        site, request, Outcome.FAILED, "target layer %d is not watched here".formatted(rows.target()));
            }
            Adapt asked = rows.asked(request);
            if (without != null && without.outcome() == Outcome.PAUSED) {
                pools.refuse(block.site(), asked);
                continue;
            }
            PooledRows pooled;
            try {
                pooled = pools.add(
                        block.site(),
                        asked,
                        adapter.poolLimits(),
                        block.explainer(),
                        fitted == null ? RowPool.NEVER : fitted.windowEndMs());
            } catch (IllegalArgumentException e) {
                return said(site, request, Outcome.FAILED, "%s: %s".formatted(block.name(), e.getMessage()));
            }
            if (!pools.of(block.site()).rests(request.windowEndMs(), adapter.cooldown())) {
                due.add(new Asked(block, asked, pooled));
            }
        }
        if (without != null) {
            return new Answered(Map.of(), without);
        }
        if (due.isEmpty()) {
            return said(
                    site,
                    request,
                    Outcome.POOLED,
                    "the rows are pooled; cooldown allows the next refit of a target %s after its last"
                            .formatted(adapter.cooldown()));
        }
        if (!mayBegin.getAsBoolean()) {
            due.forEach(one -> pools.empty(one.block().site()));
            return said(site, request, Outcome.FAILED, Attempts.GIVEN_UP);
        }
        due.forEach(one -> listener.onSample(one.block().site(), one.rows().size()));
        return refit(adapter, targets, request, due, state, standing, active, nowMs);
    }

    private Answered refit(
            SiteAdapter adapter,
            TargetsRefit targets,
            AdaptBlocks request,
            List<Asked> due,
            SwapState state,
            SwapDesk.Standing standing,
            @Nullable Active active,
            long nowMs) {
        List<Decoder> serving = active == null
                ? adapter.blocks().stream()
                        .map(block -> block.explainer().decoder())
                        .toList()
                : targets.split(active.decoder());
        Answers answers =
                targets.adapt(request, due, serving, adapter.settings().limits());
        answers.blocks().forEach((block, answer) -> {
            if (answer.outcome() != Outcome.POOLED) {
                pools.judged(block.site(), request.windowEndMs(), 0);
            }
        });
        Publication publication = answers.all().publication();
        AdapterAnswer all = publication == null
                ? answers.all()
                : adapter.desk().fitted(answers.all().report(), publication, state, standing, nowMs);
        Map<String, AdapterAnswer> blocks = new LinkedHashMap<>();
        answers.blocks().forEach((block, answer) -> {
            AdaptationReport own = answer.report();
            blocks.put(
                    block.site(),
                    AdapterAnswer.said(
                            publication == null
                                    ? own
                                    : own.with(
                                            all.outcome(),
                                            own.reason(),
                                            all.report().version())));
        });
        return new Answered(blocks, all);
    }

    private static Answered said(String site, AdaptBlocks request, Outcome outcome, String reason) {
        return new Answered(
                Map.of(), AdapterAnswer.said(AdaptationReport.plain(site, request.windowEndMs(), outcome, reason, 0)));
    }
}
