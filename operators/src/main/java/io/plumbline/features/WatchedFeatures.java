package io.plumbline.features;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.commons.math3.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Compares the features that somebody relies on with what they are on the rows that the baseline keeps.
 *
 * <p>Three numbers of each: the share of rows on which it is active and the mean of its code, zeros among them, each a
 * mean over requests and tested by request ({@link MeanTest}), and the systematic residual of its column, as
 * {@link FailingFeatures} has it but drawn towards the watched features alone. Of a window that is a sample, the means
 * are compared with those of as much of the baseline's requests ({@link ByRequest#thinned}); the residual is one of
 * rows, which a sample does not change, and takes them all. The residual is tested upwards only: a
 * column that is less wrong harms nobody.
 *
 * <p><b>Cost.</b> For each feature its tests, and {@code 16^2 d}; the errors of the rows are the caller's. Immutable;
 * any number of threads.
 */
public final class WatchedFeatures {

    /** Numbers of each feature that are tested. */
    public static final int TESTS = 3;

    private final List<Integer> features;
    private final double[] squaredNorms;
    private final @Nullable Side baseline;

    private WatchedFeatures(List<Integer> features, double[] squaredNorms, @Nullable Side baseline) {
        this.features = features;
        this.squaredNorms = squaredNorms;
        this.baseline = baseline;
    }

    /**
     * Returns the features of an explainer beside the baseline.
     *
     * @param features their indices
     * @param clean rows of clean traffic, encoded; where there are none, nothing is tested
     */
    public static WatchedFeatures of(Decoder trained, List<Integer> features, SampleRows clean) {
        double[] squaredNorms = new double[features.size()];
        for (int i = 0; i < squaredNorms.length; i++) {
            squaredNorms[i] = trained.weights().dot(features.get(i), trained.weights(), features.get(i));
        }
        Side baseline =
                clean.rows() == 0 ? null : Side.of(features, squaredNorms, clean, trained.reconstruct(clean.codes()));
        return new WatchedFeatures(List.copyOf(features), squaredNorms, baseline);
    }

    /**
     * Compares rows of a window, and returns the numbers of each feature, in the order of the features.
     *
     * @param reconstructions of these rows by the trained decoder, n x d
     * @param share of the window's rows that are given, in (0, 1]
     */
    public List<WatchedNumbers> numbers(MeanTest test, SampleRows window, Matrix reconstructions, double share) {
        if (window.rows() == 0 || features.isEmpty()) {
            return features.stream()
                    .map(feature -> new WatchedNumbers(List.of(), new double[0], new double[0]))
                    .toList();
        }
        Side clean = baseline;
        int[] thinned = ByRequest.thinned(clean == null ? 0 : clean.requests().length, share);
        int[] all = ByRequest.thinned(window.rows(), 1.0);
        Side side = Side.of(features, squaredNorms, window, reconstructions);
        int groups = RequestGroups.of(window.requests()).count();
        List<WatchedNumbers> numbers = new ArrayList<>();
        for (int i = 0; i < features.size(); i++) {
            Means before = clean == null ? Means.NONE : clean.means(i, thinned);
            Means own = side.means(i, all);
            numbers.add(new WatchedNumbers(
                    List.of(
                            WatchedChange.ofMeans(WatchedChange.RATE, test, before.rates(), own.rates()),
                            WatchedChange.ofMeans(
                                    WatchedChange.ACTIVATION, test, before.activations(), own.activations()),
                            residual(side, groups, i)),
                    own.rates(),
                    own.activations()));
        }
        return numbers;
    }

    private WatchedChange residual(Side side, int groups, int i) {
        Side clean = baseline;
        boolean tested = clean != null && groups >= Excess.FEWEST_GROUPS && Excess.isKnown(side.costs(), i);
        return new WatchedChange(
                WatchedChange.SYSTEMATIC_RESIDUAL,
                clean == null
                        ? null
                        : side.costs().systematicResidualOf(clean.costs().squaredChange(i), i),
                side.costs().systematicResidual(i),
                clean != null && tested
                        ? Excess.chance(side.costs(), clean.costs(), i, new TDistribution(null, groups - 1.0))
                        : null,
                tested ? 0.0 : 1.0);
    }

    /**
     * A feature on some rows.
     *
     * @param rates by request, share of rows on which it is active
     * @param activations by request, mean of the code
     */
    private record Means(double[] rates, double[] activations) {
        static final Means NONE = new Means(new double[0], new double[0]);
    }

    /** The watched features on some rows. */
    private record Side(CodesByFeature codes, long[] requests, Costs costs) {

        static Side of(List<Integer> features, double[] squaredNorms, SampleRows rows, Matrix reconstructions) {
            CodesByFeature codes = select(rows.codes(), features);
            Residuals residuals = Residuals.of(reconstructions, rows.targets());
            return new Side(codes, rows.requests(), Costs.ofColumns(codes, residuals, rows.requests(), squaredNorms));
        }

        /** @param rows the places of those that count */
        Means means(int i, int[] rows) {
            double[] ofRow = new double[requests.length];
            for (int entry = codes.start()[i]; entry < codes.start()[i + 1]; entry++) {
                ofRow[codes.row()[entry]] = codes.value()[entry];
            }
            long[] names = Arrays.stream(rows).mapToLong(row -> requests[row]).toArray();
            return new Means(
                    ByRequest.means(names, row -> ofRow[rows[row]] == 0.0 ? 0.0 : 1.0),
                    ByRequest.means(names, row -> ofRow[rows[row]]));
        }

        /** Returns the entries of some features alone, in their order. */
        private static CodesByFeature select(SparseCodes codes, List<Integer> features) {
            CodesByFeature all = CodesByFeature.of(codes);
            int[] start = new int[features.size() + 1];
            for (int i = 0; i < features.size(); i++) {
                int feature = features.get(i);
                start[i + 1] = start[i] + all.start()[feature + 1] - all.start()[feature];
            }
            int[] row = new int[start[features.size()]];
            double[] value = new double[row.length];
            for (int i = 0; i < features.size(); i++) {
                int from = all.start()[features.get(i)];
                System.arraycopy(all.row(), from, row, start[i], start[i + 1] - start[i]);
                System.arraycopy(all.value(), from, value, start[i], start[i + 1] - start[i]);
            }
            return new CodesByFeature(start, row, value);
        }
    }
}
