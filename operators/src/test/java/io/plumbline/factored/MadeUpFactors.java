package io.plumbline.factored;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/** Factors and a trained decoder that are the same numbers on every machine: fractions of integers. Also a program. */
public final class MadeUpFactors {

    public enum Form {
        UNTURNED(0),
        OF_RANK(1_000),
        TURNED(2_000);

        private final long seed;

        Form(long seed) {
            this.seed = seed;
        }
    }

    private MadeUpFactors() {}

    /** Prints the SHA-256 of the decoder of each form. */
    public static void main(String[] arguments) {
        for (Form form : Form.values()) {
            System.out.println(sha256(form));
        }
    }

    /** Returns the checksum for sizes that are multiples of nothing a loop is unrolled by. */
    static String sha256(Form form) {
        Decoder trained = trained(1_031, 77);
        return of(form, trained, 5, 203, 9).of(trained).sha256();
    }

    /** Returns a decoder two of whose columns are equal, for {@link #cancelling}. */
    public static Decoder trained(int features, int dimension) {
        Random random = new Random(features * 31L + dimension);
        Matrix weights = matrix(random, features, dimension);
        for (int j = 0; j < features; j++) {
            weights.set(j, dimension - 1, weights.get(j, 0));
        }
        return new Decoder(weights, matrix(random, 1, dimension).values());
    }

    public static DecoderFactors of(Form form, Decoder trained, int rank, int rows, int active) {
        int d = trained.dimension();
        Random random = new Random(form.seed + d);
        Matrix turn = cancelling(matrix(random, d, form == Form.TURNED ? d : rank));
        Matrix basis = cancelling(matrix(random, rank, d)).transpose();
        for (int a = 0; a < d; a++) {
            turn.set(a, turn.columns() - 1, turn.get(a, 0));
        }
        return new DecoderFactors(
                form == Form.UNTURNED ? null : turn,
                form == Form.OF_RANK ? basis : null,
                codes(random, rows, trained.features(), active),
                cancelling(matrix(random, rows, d)),
                matrix(random, 1, d).values());
    }

    /** The first row and the last have the same features. */
    private static SparseCodes codes(Random random, int rows, int features, int active) {
        List<Integer> chosen = new ArrayList<>();
        int[] rowStart = new int[rows + 1];
        for (int row = 0; row < rows; row++) {
            TreeSet<Integer> one = new TreeSet<>();
            while (one.size() < active) {
                // The first features are in many rows: sums of many terms.
                one.add(random.nextInt(1 + random.nextInt(features)));
            }
            chosen.addAll(row == rows - 1 ? chosen.subList(0, active) : List.copyOf(one));
            rowStart[row + 1] = chosen.size();
        }
        int[] feature = chosen.stream().mapToInt(Integer::intValue).toArray();
        double[] value = matrix(random, 1, feature.length).values();
        System.arraycopy(value, 0, value, feature.length - active, active);
        return new SparseCodes(rows, features, rowStart, feature, value);
    }

    /**
     * Returns the matrix with a huge first row and its negative as the last. Where both get the same factor, what was
     * rounded off while the sum was huge is missing from it, to be seen in float32: another order or a fused
     * multiply-add rounds off something else.
     */
    private static Matrix cancelling(Matrix matrix) {
        for (int i = 0; i < matrix.columns(); i++) {
            double huge = 0x1p40 * matrix.get(0, i);
            matrix.set(0, i, huge);
            matrix.set(matrix.rows() - 1, i, -huge);
        }
        return matrix;
    }

    /** Returns numbers of 24 significant bits over some powers of two, so that products and sums round. */
    private static Matrix matrix(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = Math.scalb((double) (random.nextInt(1 << 25) - (1 << 24)), -24 - random.nextInt(12));
            matrix.values()[i] = (float) matrix.values()[i];
        }
        return matrix;
    }
}
