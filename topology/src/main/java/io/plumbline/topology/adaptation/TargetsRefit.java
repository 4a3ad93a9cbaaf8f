package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.JointDecoder;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.assessment.AdaptationMessage.Adapt;
import io.plumbline.topology.assessment.AdaptationMessage.AdaptBlocks;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Refits the drifted blocks of a site with several targets. Each passes its own gate, and one decoder of all blocks
 * comes of it; where one does not pass, none does. Blocks that have not drifted are in it as they serve.
 */
final class TargetsRefit {

    /** The outcomes of blocks that stop a swap, the worst first. */
    private static final List<Outcome> STOPPING =
            List.of(Outcome.FAILED, Outcome.REFUSED, Outcome.KEPT, Outcome.POOLED);

    private final String site;
    private final List<Block> blocks;
    private final JointDecoder joint;
    private final DType dtype;
    private final String parentSha256;

    /** One target layer. */
    record Block(SiteId id, SiteRefit refit, Explainer explainer) {

        String site() {
            return id.name();
        }

        String name() {
            return id.block();
        }
    }

    /** A block to refit, with the rows it is refitted and judged on. */
    record Asked(Block block, Adapt request, PooledRows rows) {}

    /**
     * The answers to one request.
     *
     * @param blocks the answer for each block that was asked for, in their order
     * @param all the answer for the site; its decoder holds all blocks
     */
    record Answers(Map<Block, AdapterAnswer> blocks, AdapterAnswer all) {}

    TargetsRefit(
            String site, List<Block> blocks, JointDecoder joint, AdaptationSettings settings, String parentSha256) {
        this.site = site;
        this.blocks = List.copyOf(blocks);
        this.joint = joint;
        this.dtype = settings.dtype();
        this.parentSha256 = parentSha256;
    }

    List<Block> blocks() {
        return blocks;
    }

    /** Returns the decoders of the blocks in one of all. */
    List<Decoder> split(Decoder all) {
        return joint.split(all);
    }

    /**
     * Refits the blocks asked for, one after the other.
     *
     * @param asked at least one
     * @param serving the decoder in service of each block of the site
     */
    Answers adapt(AdaptBlocks request, List<Asked> asked, List<Decoder> serving, GateLimits limits) {
        long begin = System.nanoTime();
        List<Decoder> decoders = new ArrayList<>(serving);
        List<Decoder> unchanged = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            if (asked.stream().noneMatch(one -> one.block().equals(block))) {
                unchanged.add(serving.get(i));
            }
        }
        Map<Block, AdapterAnswer> answers = new LinkedHashMap<>();
        for (Asked one : asked) {
            int index = blocks.indexOf(one.block());
            AdapterAnswer answer =
                    one.block().refit().adapt(one.request(), one.rows(), ServingDecoder.of(serving.get(index)), limits);
            answers.put(one.block(), answer.pooled(one.rows()));
            Publication fitted = answer.publication();
            if (fitted != null) {
                decoders.set(index, fitted.decoder());
            }
        }
        for (Outcome stopping : STOPPING) {
            for (Map.Entry<Block, AdapterAnswer> one : answers.entrySet()) {
                if (one.getValue().outcome() == stopping) {
                    return stopped(request, answers, one.getKey(), one.getValue(), seconds(begin));
                }
            }
        }
        AdaptationReport report = report(request, answers, Outcome.PUBLISHED, passed(answers), seconds(begin));
        return new Answers(
                answers, new AdapterAnswer(report, publication(answers, decoders, unchanged, report), null, null));
    }

    private Answers stopped(
            AdaptBlocks request, Map<Block, AdapterAnswer> answers, Block by, AdapterAnswer answer, double seconds) {
        Map<Block, AdapterAnswer> told = new LinkedHashMap<>();
        answers.forEach((block, own) -> told.put(
                block,
                own.publication() == null
                        ? own
                        : AdapterAnswer.said(own.report()
                                .with(
                                        Outcome.REFUSED,
                                        "its own gate lets it pass, and nothing is swapped, since %s is %s: %s"
                                                .formatted(
                                                        by.name(),
                                                        answer.outcome(),
                                                        own.report().reason()),
                                        0))));
        String reason = "no target is swapped, since %s is %s: %s"
                .formatted(by.name(), answer.outcome(), answer.report().reason());
        return new Answers(told, AdapterAnswer.said(report(request, answers, answer.outcome(), reason, seconds)));
    }

    private String passed(Map<Block, AdapterAnswer> answers) {
        String unchanged = blocks.stream()
                .filter(block -> !answers.containsKey(block))
                .map(Block::name)
                .collect(Collectors.joining(", "));
        return answers.entrySet().stream()
                        .map(one -> "%s: %s"
                                .formatted(
                                        one.getKey().name(),
                                        one.getValue().report().reason()))
                        .collect(Collectors.joining("; "))
                + (unchanged.isEmpty() ? "" : "; unchanged: " + unchanged);
    }

    private AdaptationReport report(
            AdaptBlocks request, Map<Block, AdapterAnswer> answers, Outcome outcome, String reason, double seconds) {
        List<AdaptationReport> each =
                answers.values().stream().map(AdapterAnswer::report).toList();
        return new AdaptationReport(
                site,
                request.windowStartMs(),
                request.windowEndMs(),
                outcome,
                reason,
                0,
                each.stream().mapToLong(AdaptationReport::rows).max().orElse(0),
                each.stream().mapToInt(AdaptationReport::pooledWindows).max().orElse(0),
                each.stream().mapToInt(AdaptationReport::pooledRows).sum(),
                each.stream().mapToInt(AdaptationReport::fitRows).sum(),
                each.stream().mapToInt(AdaptationReport::validationRows).sum(),
                null,
                null,
                null,
                null,
                null,
                List.of(),
                null,
                seconds);
    }

    private Publication publication(
            Map<Block, AdapterAnswer> answers,
            List<Decoder> decoders,
            List<Decoder> unchanged,
            AdaptationReport report) {
        Map<String, String> lineage = new TreeMap<>();
        lineage.put("window_start_ms", Long.toString(report.windowStartMs()));
        lineage.put("window_end_ms", Long.toString(report.windowEndMs()));
        lineage.put("rows", Long.toString(report.rows()));
        lineage.put("targets", blocks.stream().map(Block::name).collect(Collectors.joining(",")));
        lineage.put("refitted", answers.keySet().stream().map(Block::name).collect(Collectors.joining(",")));
        answers.forEach((block, answer) -> {
            Publication fitted = answer.publication();
            if (fitted != null) {
                fitted.lineage().forEach((key, value) -> lineage.put(block.name() + "." + key, value));
            }
        });
        return new Publication(
                0, DecoderKind.ADAPTED, joint.join(decoders), travelling(unchanged), lineage, parentSha256);
    }

    /** Returns the type in which all travel: the configured one, or a wider one where a block that stays needs it. */
    private DType travelling(List<Decoder> unchanged) {
        return Stream.of(dtype, DType.F32)
                .filter(type -> unchanged.stream().allMatch(decoder -> decoder.keepsIdentityAs(type)))
                .findFirst()
                .orElse(DType.F64);
    }

    private static double seconds(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1e9;
    }
}
