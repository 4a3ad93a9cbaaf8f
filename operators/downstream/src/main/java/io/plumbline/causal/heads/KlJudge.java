package io.plumbline.causal.heads;

import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.BehaviourChoice;
import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.adaptation.GateTest;
import io.plumbline.adaptation.PairedImprovement;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Judges decoders by {@code KL(original || patched)}: the mean over all rows but the first of each request, in nats.
 *
 * <p>Requests of one row say nothing and are passed over. The interval of a level is that of {@link RequestBootstrap},
 * the interval of the gain that of {@link PairedImprovement}, which is right for few requests too.
 *
 * <p><b>Cost.</b> Three runs of the head for each request; to choose by, two for each request and candidate.
 * <b>Size.</b> The logits of one request, twice.
 *
 * <p><b>Threads.</b> As the head.
 *
 * @param explainer whose encoder makes the codes
 * @param heldOut requests that had no part in the fit of what is proposed
 * @param choosing requests to choose a candidate by, in none of the other sets; null where candidates are chosen by FVU
 * @param inDistribution requests of normal traffic, or null
 * @param maximumGrowth share by which the KL on normal traffic may exceed the trained decoder's, 0 or more
 */
public record KlJudge(
        Explainer explainer,
        Head head,
        SiteStudy.Requests heldOut,
        SiteStudy.@Nullable Requests choosing,
        SiteStudy.@Nullable Requests inDistribution,
        double maximumGrowth)
        implements BehaviourJudge {

    @Override
    public Behaviour judge(Decoder trained, Decoder current, Decoder proposed) {
        try {
            Behaviour.Change gain = change(heldOut, current, proposed);
            return gain == null
                    ? new Behaviour.Unknown("no held-out request has two rows or more")
                    : new Behaviour.Measured(gain, cost(trained, proposed), maximumGrowth);
        } catch (HeadException failed) {
            return new Behaviour.Unknown(String.valueOf(failed.getMessage()));
        }
    }

    @Override
    public GateTest inDistribution(Decoder trained, Decoder proposed) {
        try {
            return Behaviour.inDistribution(cost(trained, proposed), maximumGrowth);
        } catch (HeadException failed) {
            return new Behaviour.Unknown(String.valueOf(failed.getMessage())).test();
        }
    }

    @Override
    public @Nullable BehaviourChoice choice() {
        SiteStudy.Requests requests = choosing;
        return requests == null ? null : decoder -> divergence(requests, decoder);
    }

    private double divergence(SiteStudy.Requests requests, Decoder decoder) {
        double sum = 0.0;
        long rows = 0;
        try {
            for (int i = 0; i < requests.count(); i++) {
                RequestRows request = requests.request(i);
                if (request.rows() > 1) {
                    sum += divergences(request, decoder)[0];
                    rows += request.rows() - 1;
                }
            }
        } catch (HeadException failed) {
            throw new BehaviourChoice.NoAnswerException(String.valueOf(failed.getMessage()));
        }
        if (rows == 0) {
            throw new BehaviourChoice.NoAnswerException("no request to choose by has two rows or more");
        }
        return sum / rows;
    }

    private Behaviour.@Nullable Change cost(Decoder trained, Decoder proposed) {
        return inDistribution == null ? null : change(inDistribution, trained, proposed);
    }

    /** Returns null where no request has a row that counts. */
    private Behaviour.@Nullable Change change(SiteStudy.Requests requests, Decoder before, Decoder after) {
        List<Sums> ofBefore = new ArrayList<>();
        List<Sums> ofAfter = new ArrayList<>();
        List<double[]> pairs = new ArrayList<>();
        for (int i = 0; i < requests.count(); i++) {
            RequestRows request = requests.request(i);
            if (request.rows() > 1) {
                double[] kl = divergences(request, before, after);
                ofBefore.add(sums(request, kl[0]));
                ofAfter.add(sums(request, kl[1]));
                pairs.add(new double[] {kl[0], kl[0] - kl[1]});
            }
        }
        return pairs.isEmpty()
                ? null
                : new Behaviour.Change(
                        level(ofBefore), level(ofAfter), PairedImprovement.of(pairs.toArray(double[][]::new)));
    }

    /** Returns the KL summed over rows with each of some decoders. */
    private double[] divergences(RequestRows request, Decoder... decoders) {
        SparseCodes codes = explainer.encoder().encode(request.batch().activations());
        Logits original = head.logits(request.targets(), request.residual());
        double[] sums = new double[decoders.length];
        for (int which = 0; which < decoders.length; which++) {
            Matrix patched = RequestStudy.patched(explainer, request, codes, decoders[which]);
            Logits logits = head.logits(patched, request.residual());
            for (int row = 1; row < request.rows(); row++) {
                sums[which] += original.divergence(logits, row);
            }
        }
        return sums;
    }

    private static Sums sums(RequestRows request, double kl) {
        Sums.Builder sums = new Sums.Builder();
        sums.add(Sums.Of.KL, kl);
        sums.add(Sums.Of.ROWS, request.rows() - 1.0);
        return sums.build();
    }

    private static Behaviour.Level level(List<Sums> sums) {
        Interval interval = RequestBootstrap.of(sums).interval(Metric.KL::of);
        return new Behaviour.Level(interval.value(), interval.low(), interval.high());
    }
}
