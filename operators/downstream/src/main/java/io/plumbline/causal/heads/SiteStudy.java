package io.plumbline.causal.heads;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Many requests of one site, with any number of decoders.
 *
 * @param explainer whose encoder makes the codes
 * @param ablating how features are removed, or null: sequence metrics alone
 */
public record SiteStudy(
        Explainer explainer, Head head, @Nullable Ablating ablating) {

    /**
     * The order in which features are removed, and what it needs.
     *
     * @param unembedding what {@link FeatureRanking#DLA} needs; else null
     * @param requests in the first so many requests
     */
    public record Ablating(FeatureRanking ranking, @Nullable Unembedding unembedding, int requests) {

        public Ablating {
            if (ranking == FeatureRanking.DLA && unembedding == null) {
                throw new IllegalArgumentException("ranking by dla needs the unembedding");
            }
        }
    }

    /** The sums and the ablation of one request with one decoder. */
    public record Found(Sums sums, @Nullable Ablation ablation) {}

    /** Requests to study, read one at a time. */
    public interface Requests {

        int count();

        RequestRows request(int index);
    }

    /**
     * Studies every request with every decoder.
     *
     * @param progress told the rows of each request that is done
     * @return what was found of each decoder, in the order of the requests
     * @throws HeadException when the head gives no usable answer; the message names the request
     * @throws IllegalArgumentException when a request cannot be used; the message names it
     */
    public Map<String, List<Found>> run(Requests requests, Map<String, Decoder> decoders, IntConsumer progress) {
        double[] mean = targetMean(requests);
        Map<String, List<Found>> found = new LinkedHashMap<>();
        decoders.keySet().forEach(name -> found.put(name, new ArrayList<>()));
        for (int i = 0; i < requests.count(); i++) {
            RequestRows request = requests.request(i);
            try {
                RequestStudy study = RequestStudy.of(explainer, head, request, mean);
                boolean ablates = ablating != null && i < ablating.requests();
                decoders.forEach((name, decoder) ->
                        found.computeIfAbsent(name, unused -> new ArrayList<>()).add(found(study, decoder, ablates)));
            } catch (HeadException failed) {
                throw new HeadException(failed.fault(), "request %d: %s".formatted(i, failed.getMessage()), failed);
            } catch (IllegalArgumentException refused) {
                throw new IllegalArgumentException("request %d: %s".formatted(i, refused.getMessage()), refused);
            }
            progress.accept(request.rows());
        }
        return found;
    }

    private Found found(RequestStudy study, Decoder decoder, boolean ablates) {
        Sums sums = study.sequence(decoder);
        if (ablating == null || !ablates) {
            return new Found(sums, null);
        }
        Ablation ablation = study.ablation(decoder, ablating.ranking(), ablating.unembedding());
        Sums.Builder both = new Sums.Builder();
        both.add(sums);
        ablation.addTo(both);
        return new Found(both.build(), ablation);
    }

    /** Returns the mean target over the rows that count, which FVU is taken about. */
    static double[] targetMean(Requests requests) {
        double[] sum = new double[0];
        long rows = 0;
        for (int i = 0; i < requests.count(); i++) {
            Matrix targets = requests.request(i).targets();
            if (sum.length == 0) {
                sum = new double[targets.columns()];
            }
            for (int row = 1; row < targets.rows(); row++) {
                for (int j = 0; j < sum.length; j++) {
                    sum[j] += targets.get(row, j);
                }
            }
            rows += targets.rows() - 1;
        }
        for (int j = 0; j < sum.length; j++) {
            sum[j] /= rows;
        }
        return sum;
    }
}
