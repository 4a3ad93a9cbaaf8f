package io.plumbline.causal.commands;

import io.plumbline.causal.commands.Refits.Made;
import io.plumbline.causal.heads.Interval;
import io.plumbline.causal.heads.OpenHead;
import io.plumbline.causal.heads.Profile;
import io.plumbline.causal.heads.SiteStudy;
import io.plumbline.causal.heads.SiteStudy.Found;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.moments.SecondMoment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Evaluates all methods on one set of requests: figures with intervals, and the faithfulness gap. */
final class Evaluation {

    /** The figures that the table shows, in its order. */
    static final List<String> SEQUENCE = List.of("fvu", "kl", "abs_delta_ce");

    static final List<String> ABLATION = List.of("naopc", "ncomp");

    private final CausalReport report;
    private final Map<String, Double> gaps;

    private Evaluation(CausalReport report, Map<String, Double> gaps) {
        this.report = report;
        this.gaps = gaps;
    }

    static Evaluation of(
            Explainer explainer,
            OpenHead head,
            SiteStudy.Requests requests,
            Map<String, Made> methods,
            SiteStudy.@Nullable Ablating ablating,
            int rank,
            IntConsumer progress) {
        Map<String, Decoder> decoders = new LinkedHashMap<>();
        methods.forEach((name, made) -> decoders.put(name, made.decoder()));
        Map<String, List<Found>> found = new SiteStudy(explainer, head, ablating).run(requests, decoders, progress);
        ActiveSubspace active = ActiveSubspace.leadingOnly(
                SecondMoment.of(new WindowRows(explainer, requests).all().targets())
                        .matrix(),
                rank,
                null);
        Map<String, Double> gaps = new LinkedHashMap<>();
        decoders.forEach((name, decoder) -> {
            ExplainerSubspace subspace = ExplainerSubspace.of(decoder, rank);
            boolean known = active.isIdentified() && subspace.isIdentified();
            gaps.put(
                    name,
                    known
                            ? FaithfulnessGap.between(subspace.subspace(), active.subspace())
                                    .value()
                            : Double.NaN);
        });
        return new Evaluation(new CausalReport(Profile.GAE_PAPER, explainer.targetWidth(), found), gaps);
    }

    Interval value(String method, String figure) {
        return figure.equals("gap") ? gap(method) : report.value(method, figure);
    }

    /** Returns the figure less the trained decoder's; of the gap without an interval. */
    Interval change(String method, String figure) {
        return report.change(method, figure);
    }

    private Interval gap(String method) {
        return new Interval(gaps.getOrDefault(method, Double.NaN), Double.NaN, Double.NaN);
    }
}
