package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import java.util.Random;
import java.util.stream.LongStream;

/** A random adaptation: sparse codes, a decoder, and targets that another decoder would have given, with noise. */
public record Problem(Decoder trained, ExplainerSubspace subspace, SparseCodes codes, Matrix targets) {

    public static Problem random(long seed, int rows, int features, int dimension) {
        Random random = new Random(seed);
        Matrix codes = Matrix.zeros(rows, features);
        for (int i = 0; i < codes.values().length; i++) {
            codes.values()[i] = Math.max(0.0, random.nextGaussian() - 0.3);
        }
        Matrix weights = gaussian(random, features, dimension, 1.0);
        Matrix other = weights.plus(1.0, gaussian(random, features, dimension, 0.7));
        // Graded columns: the window has directions with more and with less energy.
        for (int i = 0; i < features; i++) {
            for (int j = 0; j < dimension; j++) {
                other.set(i, j, other.get(i, j) / (1.0 + 0.2 * j));
            }
        }
        Matrix targets = Kernels.multiply(codes, other).plus(1.0, gaussian(random, rows, dimension, 0.5));
        Decoder trained =
                new Decoder(weights, gaussian(random, 1, dimension, 1.0).values());
        return new Problem(trained, ExplainerSubspace.ofWeights(weights, 1), SparseCodes.fromDense(codes), targets);
    }

    public static Matrix gaussian(Random random, int rows, int columns, double scale) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = scale * random.nextGaussian();
        }
        return matrix;
    }

    public Adaptation adapt(GaeSettings settings) {
        return GeometryAdapter.adapt(trained, subspace, codes, targets, settings);
    }

    public Adaptation.Adapted adapted(GaeSettings settings) {
        Adaptation adaptation = adapt(settings);
        if (adaptation instanceof Adaptation.Adapted adapted) {
            return adapted;
        }
        throw new AssertionError(settings + ": " + adaptation);
    }

    public SampleRows rows() {
        return rows(codes, targets);
    }

    /** Returns the decoder with these weights whose errors have mean 0 on these rows. */
    public static Decoder withBias(Weights weights, SampleRows rows) {
        return FittedDecoder.withBias(weights, rows.codes(), SparseProducts.columnMeans(rows.targets()));
    }

    /** Returns rows; each row is a request of its own. */
    public static SampleRows rows(SparseCodes codes, Matrix targets) {
        return new SampleRows(codes, targets, LongStream.range(0, codes.rows()).toArray());
    }

    public Problem part(int from, int to) {
        int[] chosen = new int[to - from];
        for (int i = 0; i < chosen.length; i++) {
            chosen[i] = from + i;
        }
        return new Problem(trained, subspace, codes.select(chosen), targets.rowRange(from, to));
    }
}
