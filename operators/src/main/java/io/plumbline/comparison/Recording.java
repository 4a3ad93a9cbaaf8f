package io.plumbline.comparison;

import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBatch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The requests of one side, and which of their rows are left to compare.
 *
 * <p><b>Size.</b> 4 bytes a row, 8 a token id; requests are read again when they are asked for.
 *
 * @param rows by request, ascending: those that are finite, not masked and not taken out
 * @param precision of the rows that are finite and not masked, also where their partner is not
 * @param notFinite how many rows are not
 */
record Recording(
        List<ActivationBatch> requests, Prompts prompts, List<int[]> rows, Precision precision, long notFinite) {

    static Recording read(List<ActivationBatch> requests, Explainer explainer, RowMask mask) {
        List<Prompts.Request> prompts = new ArrayList<>();
        List<int[]> rows = new ArrayList<>();
        Precision precision = new Precision();
        long notFinite = 0;
        for (ActivationBatch request : requests) {
            int[] finite = IntStream.range(0, request.rows())
                    .filter(row -> isFinite(request.activations(), row) && isFinite(request.targetRows(), row))
                    .toArray();
            int[] left = finite.length == 0
                    ? finite
                    : IntStream.of(mask.rowsLeft(explainer.space().of(request.keep(finite))))
                            .map(row -> finite[row])
                            .toArray();
            prompts.add(Prompts.Request.of(request));
            rows.add(left);
            notFinite += request.rows() - finite.length;
            if (left.length > 0) {
                precision.add(request.keep(left).activations());
            }
        }
        return new Recording(requests, new Prompts(prompts), rows, precision, notFinite);
    }

    static boolean isFinite(Matrix rows, int row) {
        return Double.isFinite(rows.rowRange(row, row + 1).frobeniusNorm());
    }

    /** Returns the same without the rows that are not left of the other, which has the same prompts. */
    Recording pairedWith(Recording other) {
        List<int[]> both = IntStream.range(0, rows.size())
                .mapToObj(i -> IntStream.of(rows.get(i))
                        .filter(row -> Arrays.binarySearch(other.rows.get(i), row) >= 0)
                        .toArray())
                .toList();
        return new Recording(requests, prompts, both, precision, notFinite);
    }

    /** Returns which requests have rows left. */
    int[] places() {
        return IntStream.range(0, rows.size())
                .filter(i -> rows.get(i).length > 0)
                .toArray();
    }

    /** Returns the rows that are left of a request that has some. */
    ActivationBatch left(int place) {
        return requests.get(place).keep(rows.get(place));
    }
}
