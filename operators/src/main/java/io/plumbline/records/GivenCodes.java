package io.plumbline.records;

import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sparse codes that a producer sends beside its reconstructions: {@code code_indices} and {@code code_values}, both [n,
 * m], where a row of fewer than m codes is filled with the index -1.
 *
 * <p>Behind a row they take {@value #WIDTH} values: the indices of its {@value #MOST} largest codes, each 1 more than
 * it is so that 0 is none, and then their values. A float holds indices up to {@code 2^24}.
 */
public final class GivenCodes {

    /** The most codes of a row that are kept, which are those of the largest size. */
    public static final int MOST = 64;

    /** How many values the codes of a row take. */
    public static final int WIDTH = 2 * MOST;

    static final String INDICES = "code_indices";
    static final String VALUES = "code_values";

    private final Tensor indices;
    private final Tensor values;
    private final int @Nullable [] kept;

    private GivenCodes(Tensor indices, Tensor values, int @Nullable [] kept) {
        this.indices = indices;
        this.values = values;
        this.kept = kept;
    }

    /** Returns the codes; null where the blob has none. */
    static @Nullable GivenCodes of(Safetensors blob, int rows) {
        if (!blob.contains(INDICES) || !blob.contains(VALUES)) {
            return null;
        }
        Tensor indices = blob.tensor(INDICES);
        Tensor values = ActivationTensors.matrix(blob.tensor(VALUES));
        if (indices.dtype().isFloatingPoint()) {
            throw new ActivationBatchException("%s, expected I64 or I32".formatted(indices));
        }
        if (values.size(0) != rows || !indices.shape().equals(values.shape())) {
            throw new ActivationBatchException("%s and %s, expected both of %s, a row for each of the activations"
                    .formatted(indices, values, List.of(rows, "m")));
        }
        return new GivenCodes(indices, values, null);
    }

    GivenCodes keep(int[] rows) {
        int[] of = new int[rows.length];
        for (int i = 0; i < rows.length; i++) {
            of[i] = number(rows[i]);
        }
        return new GivenCodes(indices, values, of);
    }

    /**
     * Writes the codes of a row to {@code target[at .. at + WIDTH - 1]}, which holds zeros.
     *
     * @param features how many the dictionary has
     * @throws ActivationBatchException where a code has no feature, comes twice or is not finite
     */
    void copy(int row, int features, double[] target, int at) {
        int number = number(row);
        int width = values.size(1);
        long[] index = indices.longs(number * width, (number + 1) * width);
        double[] value = values.rows(number, number + 1).values();
        boolean[] taken = new boolean[width];
        for (int j = 0; j < width; j++) {
            check(row, features, index, value, j);
            taken[j] = index[j] < 0 || value[j] == 0.0;
        }
        requireEachOnce(row, index);
        for (int place = 0; place < Math.min(MOST, width); place++) {
            int largest = -1;
            for (int j = 0; j < width; j++) {
                if (!taken[j] && (largest < 0 || Math.abs(value[j]) > Math.abs(value[largest]))) {
                    largest = j;
                }
            }
            if (largest < 0) {
                return;
            }
            taken[largest] = true;
            target[at + place] = index[largest] + 1.0;
            target[at + MOST + place] = value[largest];
        }
    }

    private static void check(int row, int features, long[] index, double[] value, int j) {
        if (index[j] < -1 || index[j] >= features) {
            throw new ActivationBatchException(
                    "code_indices row %d: %d, expected a feature from 0 to %d, or -1 for none"
                            .formatted(row, index[j], features - 1));
        }
        if (index[j] >= 0 && !(Math.abs(value[j]) <= Float.MAX_VALUE)) {
            throw new ActivationBatchException(
                    "code_values row %d: feature %d is %s".formatted(row, index[j], value[j]));
        }
    }

    private static void requireEachOnce(int row, long[] index) {
        long[] sorted = index.clone();
        Arrays.sort(sorted);
        for (int j = 1; j < sorted.length; j++) {
            if (sorted[j] >= 0 && sorted[j] == sorted[j - 1]) {
                throw new ActivationBatchException("code_indices row %d: feature %d twice".formatted(row, sorted[j]));
            }
        }
    }

    private int number(int row) {
        return kept == null ? row : kept[row];
    }
}
