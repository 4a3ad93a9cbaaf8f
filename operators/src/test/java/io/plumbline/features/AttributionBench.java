package io.plumbline.features;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.refit.SampleRows;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.apache.commons.math3.stat.correlation.SpearmansCorrelation;

/**
 * Compares what the first half of some requests says of an explainer's features with direct measures on the later half:
 * what each feature's error comes to there, what taking it out costs there, and what a refit of fifty columns gains
 * there.
 */
public final class AttributionBench {

    private static final int REFITTED = 50;

    /** The ridge as a share of the mean diagonal of the codes' Gram matrix. */
    private static final double RIDGE = 0.1;

    private final Rows window;
    private final Rows later;
    private final Costs costs;
    private final FailingFeatures failing;
    private final int[] active;

    private record Rows(Explainer explainer, SparseCodes codes, Matrix targets, Matrix errors, long[] requests) {

        static Rows of(Explainer explainer, List<ActivationBatch> requests) {
            Matrix activations =
                    stack(requests.stream().map(ActivationBatch::activations).toList());
            Matrix targets =
                    stack(requests.stream().map(ActivationBatch::targetRows).toList());
            SparseCodes codes = explainer.encoder().encode(activations);
            long[] ofRow = IntStream.range(0, requests.size())
                    .flatMap(request -> IntStream.generate(() -> request)
                            .limit(requests.get(request).rows()))
                    .asLongStream()
                    .toArray();
            return new Rows(
                    explainer, codes, targets, targets.minus(explainer.decoder().reconstruct(codes)), ofRow);
        }

        private static Matrix stack(List<Matrix> parts) {
            Matrix all = Matrix.zeros(
                    parts.stream().mapToInt(Matrix::rows).sum(), parts.get(0).columns());
            int at = 0;
            for (Matrix part : parts) {
                System.arraycopy(part.values(), 0, all.values(), at, part.values().length);
                at += part.values().length;
            }
            return all;
        }
    }

    /**
     * @param clean rows that the baseline keeps
     * @param requests in the order of their time; at most {@link FailingFeatures#ROWS} rows of the first half are
     *     looked at
     */
    public AttributionBench(Explainer explainer, List<SampledRow> clean, List<ActivationBatch> requests) {
        int half = requests.size() / 2;
        int rows = 0;
        int first = 0;
        while (first < half && rows + requests.get(first).rows() <= FailingFeatures.ROWS) {
            rows += requests.get(first++).rows();
        }
        window = Rows.of(explainer, requests.subList(0, first));
        later = Rows.of(explainer, requests.subList(half, requests.size()));
        Decoder decoder = explainer.decoder();
        costs = Costs.of(decoder, squaredNorms(decoder), window.codes(), window.targets(), window.requests());
        SampleRows kept = SampleRows.of(explainer.encoder(), clean, explainer.targetWidth());
        failing = FailingFeatures.of(decoder, kept.codes(), kept.targets(), kept.requests());
        active = IntStream.range(0, decoder.features())
                .filter(j -> costs.removable().written()[j] > 0.0)
                .toArray();
    }

    /**
     * Rank correlation, over the features active in the window, of their systematic residual with that of the later
     * rows.
     */
    public double systematicResidual() {
        return correlation(costs::systematicResidual, laterResiduals());
    }

    /** Rank correlation of usefulness with the error that taking the feature out adds on the later rows. */
    public double usefulness() {
        return correlation(j -> costs.usefulness()[j], laterAblations());
    }

    /** The two correlations of what a feature writes, as a rival. */
    double[] activity() {
        return new double[] {
            correlation(j -> costs.removable().written()[j], laterResiduals()),
            correlation(j -> costs.removable().written()[j], laterAblations())
        };
    }

    /**
     * Error on the later rows, as a share of the trained decoder's, after a refit of the fifty columns listed first.
     */
    public double refitOfListed() {
        return refit(failing.list(window.codes(), window.targets(), window.requests(), null, REFITTED).stream()
                .mapToInt(FailingFeature::feature)
                .toArray());
    }

    /**
     * Returns the error on the later rows, as a share of the trained decoder's, after a refit of the fifty that write
     * most.
     */
    public double refitOfMostActive() {
        return refit(IntStream.of(active)
                .boxed()
                .sorted(Comparator.comparingDouble(
                        (Integer j) -> -costs.removable().written()[j]))
                .limit(REFITTED)
                .mapToInt(j -> j)
                .toArray());
    }

    /** Returns the cells of a table: rows, the four correlations, the two refits. */
    public String line() {
        double[] rival = activity();
        return String.format(
                Locale.ROOT,
                "%d of %d requests | %.3f (%.3f) | %.3f (%.3f) | %.4f (%.4f)",
                window.codes().rows(),
                window.requests()[window.requests().length - 1] + 1,
                systematicResidual(),
                rival[0],
                usefulness(),
                rival[1],
                refitOfListed(),
                refitOfMostActive());
    }

    private interface Measure {
        double of(int feature);
    }

    private double correlation(Measure measure, double[] direct) {
        return new SpearmansCorrelation()
                .correlation(
                        IntStream.of(active).mapToDouble(measure::of).toArray(),
                        IntStream.of(active).mapToDouble(j -> direct[j]).toArray());
    }

    /** Returns {@code |w| |(1/n) sum (z - mean z)(e - mean e)|}, as it is. */
    private double[] laterResiduals() {
        Matrix errors = centred(later.errors());
        double[] norms = squaredNorms(later.explainer().decoder());
        Matrix sums = Matrix.zeros(norms.length, errors.columns());
        SparseCodes codes = later.codes();
        for (int row = 0; row < codes.rows(); row++) {
            for (int entry = codes.rowStart()[row]; entry < codes.rowStart()[row + 1]; entry++) {
                Kernels.addScaled(
                        codes.value()[entry],
                        errors.values(),
                        row * errors.columns(),
                        sums.values(),
                        codes.feature()[entry] * errors.columns(),
                        errors.columns());
            }
        }
        return IntStream.range(0, norms.length)
                .mapToDouble(j -> Math.sqrt(norms[j] * dot(sums, j, sums, j)))
                .toArray();
    }

    /** Returns {@code sum |e + z w|^2 - |e|^2}, row by row. */
    private double[] laterAblations() {
        Decoder decoder = later.explainer().decoder();
        double[] added = new double[decoder.features()];
        SparseCodes codes = later.codes();
        double[] without = new double[decoder.dimension()];
        for (int row = 0; row < codes.rows(); row++) {
            double error = dot(later.errors(), row, later.errors(), row);
            for (int entry = codes.rowStart()[row]; entry < codes.rowStart()[row + 1]; entry++) {
                System.arraycopy(later.errors().values(), row * without.length, without, 0, without.length);
                decoder.weights().addRow(codes.value()[entry], codes.feature()[entry], without, 0);
                added[codes.feature()[entry]] += Kernels.dot(without, 0, without, 0, without.length) - error;
            }
        }
        return added;
    }

    private double refit(int[] features) {
        Matrix codes = centred(columns(window.codes(), features));
        Matrix gram = Kernels.transposeMultiply(codes, codes);
        double ridge = RIDGE * gram.trace() / features.length;
        for (int j = 0; j < features.length; j++) {
            gram.set(j, j, gram.get(j, j) + ridge);
        }
        Matrix change = Kernels.transposeMultiply(codes, centred(window.errors()));
        Cholesky.of(gram).solveInPlace(change);
        double[] code = mean(columns(window.codes(), features));
        double[] bias = mean(window.errors());
        Matrix shift = Kernels.multiply(new Matrix(1, code.length, code), change);
        Matrix errors = later.errors().minus(Kernels.multiply(columns(later.codes(), features), change));
        for (int at = 0; at < errors.values().length; at++) {
            errors.values()[at] -= bias[at % bias.length] - shift.values()[at % bias.length];
        }
        return Math.pow(errors.frobeniusNorm() / later.errors().frobeniusNorm(), 2);
    }

    private static Matrix columns(SparseCodes codes, int[] features) {
        Matrix dense = codes.toDense();
        Matrix chosen = Matrix.zeros(codes.rows(), features.length);
        for (int i = 0; i < codes.rows(); i++) {
            for (int j = 0; j < features.length; j++) {
                chosen.set(i, j, dense.get(i, features[j]));
            }
        }
        return chosen;
    }

    private static double[] mean(Matrix rows) {
        double[] mean = new double[rows.columns()];
        for (int at = 0; at < rows.values().length; at++) {
            mean[at % mean.length] += rows.values()[at] / rows.rows();
        }
        return mean;
    }

    private static Matrix centred(Matrix rows) {
        double[] mean = mean(rows);
        Matrix centred = rows.copy();
        for (int at = 0; at < centred.values().length; at++) {
            centred.values()[at] -= mean[at % mean.length];
        }
        return centred;
    }

    private static double dot(Matrix a, int i, Matrix b, int j) {
        return Kernels.dot(a.values(), i * a.columns(), b.values(), j * b.columns(), a.columns());
    }

    private static double[] squaredNorms(Decoder decoder) {
        return IntStream.range(0, decoder.features())
                .mapToDouble(j -> decoder.weights().dot(j, decoder.weights(), j))
                .toArray();
    }
}
