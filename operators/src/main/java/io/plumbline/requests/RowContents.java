package io.plumbline.requests;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SplitMix;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds which sampled rows have the same content: rows of equal bits, and rows nearer to each other than a tolerance,
 * directly or by others between them.
 *
 * <p>Rows are compared by what the encoder reads. Distances are squared Euclidean ones in units of {@link #scale}, the
 * median over pairs of rows, which a few rows of enormous length (a first token) do not move.
 *
 * <p>Pairs come from {@link NearRows}, and each is compared as it is.
 */
final class RowContents {

    private final int[] parent;

    private RowContents(int rows) {
        this.parent = new int[rows];
        Arrays.setAll(parent, row -> row);
    }

    /** Returns for each row the number of the first row with its content. */
    static int[] of(List<SampledRow> rows, double tolerance) {
        RowContents contents = new RowContents(rows.size());
        int[] distinct = contents.joinEqualBits(rows);
        if (distinct.length > 1) {
            List<SampledRow> others =
                    Arrays.stream(distinct).mapToObj(rows::get).toList();
            contents.joinNear(others, distinct, tolerance * scale(others));
        }
        int[] found = new int[rows.size()];
        Arrays.setAll(found, contents::first);
        return found;
    }

    /** The median squared distance of two rows, over pairs that their hashes choose. */
    static double scale(List<SampledRow> unsorted) {
        List<SampledRow> rows = unsorted.stream()
                .sorted(Comparator.comparingLong(row -> SplitMix.mix(row.hash())))
                .toList();
        int half = rows.size() / 2;
        double[] distances = new double[half];
        for (int i = 0; i < half; i++) {
            distances[i] = distance(rows.get(i), rows.get(i + half));
        }
        Arrays.sort(distances);
        return half == 0 ? 0.0 : distances[half / 2];
    }

    static double distance(SampledRow one, SampledRow other) {
        float[] x = one.activation();
        float[] y = other.activation();
        double sum = 0.0;
        for (int j = 0; j < x.length; j++) {
            double difference = (double) x[j] - y[j];
            sum += difference * difference;
        }
        return sum;
    }

    /** Returns what the encoder reads, a row each. */
    static Matrix activations(List<SampledRow> rows) {
        int width = rows.get(0).activation().length;
        Matrix matrix = Matrix.zeros(rows.size(), width);
        for (int row = 0; row < rows.size(); row++) {
            float[] values = rows.get(row).activation();
            for (int j = 0; j < width; j++) {
                matrix.set(row, j, values[j]);
            }
        }
        return matrix;
    }

    /** Returns the first row of each content. */
    private int[] joinEqualBits(List<SampledRow> rows) {
        Map<Bits, Integer> known = new HashMap<>();
        int[] distinct = new int[rows.size()];
        int count = 0;
        for (int row = 0; row < rows.size(); row++) {
            Integer first = known.putIfAbsent(new Bits(rows.get(row).activation()), row);
            if (first == null) {
                distinct[count++] = row;
            } else {
                parent[row] = first;
            }
        }
        return Arrays.copyOf(distinct, count);
    }

    /** @param numbers of these rows in all rows, ascending */
    private void joinNear(List<SampledRow> rows, int[] numbers, double limit) {
        NearRows.forEach(rows, limit, (i, j) -> {
            if (first(numbers[i]) != first(numbers[j]) && distance(rows.get(i), rows.get(j)) <= limit) {
                join(numbers[i], numbers[j]);
            }
        });
    }

    static double[] squares(Matrix matrix) {
        double[] squares = new double[matrix.rows()];
        for (int row = 0; row < squares.length; row++) {
            int at = row * matrix.columns();
            squares[row] = Kernels.dot(matrix.values(), at, matrix.values(), at, matrix.columns());
        }
        return squares;
    }

    private int first(int row) {
        int root = row;
        while (parent[root] != root) {
            parent[root] = parent[parent[root]];
            root = parent[root];
        }
        return root;
    }

    private void join(int one, int other) {
        int a = first(one);
        int b = first(other);
        parent[Math.max(a, b)] = Math.min(a, b);
    }

    private record Bits(float[] values) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Bits bits && Arrays.equals(values, bits.values);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(values);
        }
    }
}
