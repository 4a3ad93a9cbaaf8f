package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import java.util.Arrays;

/**
 * Keeps the k largest pre-activations {@code W_enc x + b_enc} of a row and clamps those at 0; equal ones go to the
 * lower feature index.
 *
 * <p>Clamping after the choice means a row has fewer than k codes when fewer than k pre-activations are positive, and
 * that a negative one never matters. So the k-th largest is found with a heap that starts full of zeros:
 * {@code O(features + k log k log features)} for values in random order, no sort of the whole row.
 */
public final class TopKEncoder implements Encoder {

    private final LinearLayer layer;
    private final int k;

    TopKEncoder(LinearLayer layer, int k) {
        if (k < 1 || k > layer.features()) {
            throw new IllegalArgumentException(
                    "k = %d, expected 1 .. %d, the number of features".formatted(k, layer.features()));
        }
        this.layer = layer;
        this.k = k;
    }

    /** From weights {@code features x inputWidth} (row j = feature j), one bias per feature, and how many to keep. */
    public static TopKEncoder of(Matrix weights, double[] bias, int k) {
        return new TopKEncoder(LinearLayer.featureByInput(weights, bias), k);
    }

    @Override
    public int inputWidth() {
        return layer.inputWidth();
    }

    @Override
    public int features() {
        return layer.features();
    }

    /** How many features of a row may be active. */
    public int k() {
        return k;
    }

    @Override
    public SparseCodes encode(Matrix rows) {
        double[] heap = new double[k];
        return layer.encode(rows, (preActivations, offset, codes) -> keepLargest(preActivations, offset, heap, codes));
    }

    private void keepLargest(double[] preActivations, int offset, double[] heap, SparseCodes.Builder codes) {
        int features = features();
        Arrays.fill(heap, 0.0);
        for (int j = 0; j < features; j++) {
            if (preActivations[offset + j] > heap[0]) {
                replaceSmallest(heap, preActivations[offset + j]);
            }
        }
        double smallestKept = heap[0];
        int above = 0;
        for (double kept : heap) {
            above += kept > smallestKept ? 1 : 0;
        }
        int equalsLeft = smallestKept > 0.0 ? k - above : 0;
        for (int j = 0; j < features; j++) {
            double value = preActivations[offset + j];
            if (value > smallestKept) {
                codes.add(j, value);
            } else if (value == smallestKept && equalsLeft > 0) {
                codes.add(j, value);
                equalsLeft--;
            }
        }
    }

    /** Puts {@code value} in the place of the heap's root, its smallest entry. */
    private static void replaceSmallest(double[] heap, double value) {
        int parent = 0;
        while (true) {
            int child = 2 * parent + 1;
            if (child >= heap.length) {
                break;
            }
            if (child + 1 < heap.length && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= value) {
                break;
            }
            heap[parent] = heap[child];
            parent = child;
        }
        heap[parent] = value;
    }
}
