package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.adaptation.SiteAdapter.Block;
import io.plumbline.topology.assessment.AdaptationMessage.Adapt;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes the answer for a site of those for its blocks that were refitted. Each passes its own gate, and one decoder of
 * all blocks comes of it; where one does not pass, none does. Blocks that were not refitted are in it as they serve.
 * The answer for a site with one target is that for its one block.
 *
 * @param parts the answers for the blocks that were refitted, at least one
 * @param seconds how long that took
 */
record JointAnswer(SiteAdapter adapter, Adapt request, List<Part> parts, double seconds) {

    /** The outcomes of blocks that stop a swap, the worst first. */
    private static final List<Outcome> STOPPING =
            List.of(Outcome.FAILED, Outcome.REFUSED, Outcome.KEPT, Outcome.POOLED);

    /** The answer for one block. */
    record Part(Block block, AdapterAnswer answer) {

        AdaptationReport report() {
            return answer.report();
        }
    }

    /**
     * Returns the answer for the site.
     *
     * @param serving the decoder in service of each block of the site
     */
    AdapterAnswer all(List<ServingDecoder> serving) {
        if (!parts.get(0).block().id().isBlock()) {
            return parts.get(0).answer();
        }
        Part stopping = stopping();
        if (stopping != null) {
            return AdapterAnswer.said(report(
                    stopping.answer().outcome(),
                    "no target is swapped, since %s: %s"
                            .formatted(describe(stopping), stopping.report().reason())));
        }
        List<Block> unchanged = new ArrayList<>(adapter.blocks());
        parts.forEach(part -> unchanged.remove(part.block()));
        String reason = parts.stream()
                .map(part -> part.block().says(part.report().reason()))
                .collect(Collectors.joining("; "));
        AdaptationReport report = report(
                Outcome.PUBLISHED, unchanged.isEmpty() ? reason : reason + "; unchanged: " + names(unchanged, ", "));
        return new AdapterAnswer(report, publication(serving, unchanged), null, null);
    }

    /**
     * Returns what is reported of each target that was refitted, by its name; nothing of a site with one target.
     *
     * @param decided what became of the site
     */
    Map<String, AdapterAnswer> blocks(AdapterAnswer decided) {
        Map<String, AdapterAnswer> blocks = new LinkedHashMap<>();
        Part stopping = stopping();
        for (Part part : parts) {
            AdaptationReport own = part.report();
            if (stopping == null) {
                own = own.with(decided.outcome(), own.reason(), decided.report().version());
            } else if (part.answer().publication() != null) {
                String reason = "its own gate lets it pass, and nothing is swapped, since %s: %s"
                        .formatted(describe(stopping), own.reason());
                own = own.with(Outcome.REFUSED, reason, 0);
            }
            if (part.block().id().isBlock()) {
                blocks.put(part.block().site(), AdapterAnswer.said(own));
            }
        }
        return blocks;
    }

    /** Returns the block that keeps all from being swapped, or null. */
    private @Nullable Part stopping() {
        return parts.stream()
                .filter(part -> part.answer().publication() == null)
                .min(Comparator.comparing(part -> STOPPING.indexOf(part.answer().outcome())))
                .orElse(null);
    }

    private static String describe(Part part) {
        return "%s is %s".formatted(part.block().id().block(), part.answer().outcome());
    }

    private AdaptationReport report(Outcome outcome, String reason) {
        List<AdaptationReport> each = parts.stream().map(Part::report).toList();
        return AdaptationReport.of(adapter.site(), request, outcome, reason, each, seconds);
    }

    private static String names(List<Block> blocks, String separator) {
        return blocks.stream().map(block -> block.id().block()).collect(Collectors.joining(separator));
    }

    private Publication publication(List<ServingDecoder> serving, List<Block> unchanged) {
        Map<String, String> lineage = new TreeMap<>();
        lineage.put("window_start_ms", Long.toString(request.windowStartMs()));
        lineage.put("window_end_ms", Long.toString(request.windowEndMs()));
        lineage.put("rows", Long.toString(request.rows()));
        lineage.put("targets", names(adapter.blocks(), ","));
        lineage.put("refitted", names(parts.stream().map(Part::block).toList(), ","));
        List<Decoder> decoders =
                new ArrayList<>(serving.stream().map(ServingDecoder::decoder).toList());
        List<Decoder> staying = unchanged.stream()
                .map(block -> decoders.get(adapter.blocks().indexOf(block)))
                .toList();
        for (Part part : parts) {
            Publication fitted = Objects.requireNonNull(part.answer().publication());
            String name = part.block().id().block();
            fitted.lineage().forEach((key, value) -> lineage.put(name + "." + key, value));
            decoders.set(adapter.blocks().indexOf(part.block()), fitted.decoder());
        }
        return new Publication(
                0,
                DecoderKind.ADAPTED,
                adapter.joint().join(decoders),
                adapter.settings().keeping(staying),
                lineage,
                adapter.trainedSha256());
    }
}
