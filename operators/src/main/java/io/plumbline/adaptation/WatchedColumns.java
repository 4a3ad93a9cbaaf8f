package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * Tests whether a refit keeps the columns of the features that somebody relies on.
 *
 * <p>The encoder stays, so a feature's codes are the same before and after: what a refit can change is what the feature
 * writes. It may not turn a watched column below {@value #LEAST_COSINE} of its trained direction. Nor may the column's
 * systematic residual grow, {@code |w| |cov(z, e)|} with the codes z and the errors e of held-out rows. Its growth is
 * tested upwards by Student's t, with a jackknife over requests, which are the same for both decoders, and one degree
 * of freedom less than there are. Of all watched features a neutral refit is refused with a chance of 5 % (Holm,
 * Scandinavian Journal of Statistics 6, 1979). Fewer than {@value #FEWEST_REQUESTS} requests test no residual.
 *
 * @param features their indices; none: nothing is tested
 */
record WatchedColumns(List<Integer> features) {

    static final double LEAST_COSINE = 0.9;

    static final int FEWEST_REQUESTS = 5;

    private static final double CHANCE = 0.05;
    private static final double ROUNDING = 1e-12;
    private static final String KEPT = "%d watched features keep their columns";

    WatchedColumns {
        features = List.copyOf(features);
    }

    /** Tests what needs no rows of the window. */
    GateTest turns(Decoder trained, Decoder proposed) {
        return test(turned(trained, proposed), KEPT);
    }

    /**
     * Tests all of it.
     *
     * @param byCurrent what the decoder in service gives for the rows
     * @param byProposed what the proposed one gives for them
     */
    GateTest on(
            SampleRows heldOut,
            Decoder trained,
            Decoder current,
            Decoder proposed,
            Matrix byCurrent,
            Matrix byProposed) {
        List<String> hurt = turned(trained, proposed);
        int requests = (int) Arrays.stream(heldOut.requests()).distinct().count();
        if (requests < FEWEST_REQUESTS) {
            return test(
                    hurt,
                    "%%d watched features keep their directions; %d requests do not test their residuals, expected %d"
                            .formatted(requests, FEWEST_REQUESTS));
        }
        TDistribution student = new TDistribution(null, requests - 1.0);
        List<Growth> growths = new ArrayList<>();
        for (int feature : features) {
            double[] codes = codes(heldOut, feature);
            Jackknife before = Jackknife.of(heldOut, codes, byCurrent, FeatureChange.norm(current.weights(), feature));
            Jackknife after = Jackknife.of(heldOut, codes, byProposed, FeatureChange.norm(proposed.weights(), feature));
            growths.add(new Growth(feature, before.whole(), after.whole(), after.chanceOfMore(before, student)));
        }
        growths.sort(Comparator.comparingDouble(Growth::chance));
        for (int i = 0; i < growths.size() && growths.get(i).chance() <= CHANCE / (growths.size() - i); i++) {
            hurt.add(growths.get(i).sentence());
        }
        return test(hurt, KEPT);
    }

    /**
     * The systematic residual of a column before and after.
     *
     * @param chance that it grows as much where nothing has changed
     */
    private record Growth(int feature, double before, double after, double chance) {
        String sentence() {
            return String.format(
                    Locale.ROOT,
                    "feature %d, which is watched: systematic residual %.4g -> %.4g, may not grow",
                    feature,
                    before,
                    after);
        }
    }

    private GateTest test(List<String> hurt, String kept) {
        return new GateTest(
                GateTest.WATCHED,
                hurt.isEmpty(),
                hurt.isEmpty() ? kept.formatted(features.size()) : String.join(", ", hurt));
    }

    private List<String> turned(Decoder trained, Decoder proposed) {
        List<String> turned = new ArrayList<>();
        for (int feature : features) {
            double norms =
                    FeatureChange.norm(trained.weights(), feature) * FeatureChange.norm(proposed.weights(), feature);
            double cosine = norms > 0.0 ? trained.weights().dot(feature, proposed.weights(), feature) / norms : 0.0;
            boolean unchanged = FeatureChange.norm(trained.weights(), feature) == 0.0
                    && FeatureChange.norm(proposed.weights(), feature) == 0.0;
            // Written so that NaN is a turn.
            if (!(cosine >= LEAST_COSINE) && !unchanged) {
                turned.add(String.format(
                        Locale.ROOT,
                        "feature %d, which is watched: cosine %.3f to its trained column, expected at least %.2f",
                        feature,
                        cosine,
                        LEAST_COSINE));
            }
        }
        return turned;
    }

    private static double[] codes(SampleRows rows, int feature) {
        double[] codes = new double[rows.rows()];
        for (int row = 0; row < codes.length; row++) {
            for (int entry = rows.codes().rowStart()[row]; entry < rows.codes().rowStart()[row + 1]; entry++) {
                if (rows.codes().feature()[entry] == feature) {
                    codes[row] = rows.codes().value()[entry];
                }
            }
        }
        return codes;
    }

    /**
     * A systematic residual in squared activations, of all requests and without each.
     *
     * @param without in ascending order of the requests' names
     */
    private record Jackknife(double whole, double[] without) {

        static Jackknife of(SampleRows rows, double[] codes, Matrix reconstructions, double norm) {
            int d = reconstructions.columns();
            Map<Long, Sums> requests = new TreeMap<>();
            Sums all = new Sums(d);
            for (int row = 0; row < codes.length; row++) {
                Sums own = requests.computeIfAbsent(rows.requests()[row], name -> new Sums(d));
                own.add(codes[row], rows.targets(), reconstructions, row);
            }
            requests.values().forEach(own -> all.add(own, 1.0));
            double whole = norm * all.covariance();
            double[] without = requests.values().stream()
                    .mapToDouble(own -> {
                        Sums rest = new Sums(d);
                        rest.add(all, 1.0);
                        rest.add(own, -1.0);
                        return norm * rest.covariance();
                    })
                    .toArray();
            return new Jackknife(whole, without);
        }

        /** Returns the chance that this is as much larger than the other one where nothing has changed. */
        double chanceOfMore(Jackknife other, TDistribution student) {
            int requests = without.length;
            double mean = 0.0;
            for (int g = 0; g < requests; g++) {
                mean += (without[g] - other.without[g]) / requests;
            }
            double squares = 0.0;
            for (int g = 0; g < requests; g++) {
                double off = without[g] - other.without[g] - mean;
                squares += off * off;
            }
            double error = Math.sqrt(squares * (requests - 1.0) / requests);
            double growth = whole - other.whole;
            if (!(growth > ROUNDING * whole)) {
                return 1.0;
            }
            return error > 0.0 ? student.cumulativeProbability(-growth / error) : 0.0;
        }
    }

    /** Sums of codes, of errors, and of their products, over rows. */
    private static final class Sums {

        private double rows;
        private double code;
        private final double[] error;
        private final double[] product;

        Sums(int d) {
            error = new double[d];
            product = new double[d];
        }

        void add(double z, Matrix targets, Matrix reconstructions, int row) {
            rows++;
            code += z;
            for (int j = 0; j < error.length; j++) {
                double e = targets.get(row, j) - reconstructions.get(row, j);
                error[j] += e;
                product[j] += z * e;
            }
        }

        void add(Sums other, double sign) {
            rows += sign * other.rows;
            code += sign * other.code;
            for (int j = 0; j < error.length; j++) {
                error[j] += sign * other.error[j];
                product[j] += sign * other.product[j];
            }
        }

        /** Returns {@code |cov(z, e)|}; 0 without rows. */
        double covariance() {
            double squares = 0.0;
            for (int j = 0; j < error.length; j++) {
                double one = rows > 0.0 ? product[j] / rows - code / rows * error[j] / rows : 0.0;
                squares += one * one;
            }
            return Math.sqrt(squares);
        }
    }
}
