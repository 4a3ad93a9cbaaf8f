package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds the errors of a reconstruction on the encoded rows of a window: over all of them and request by request.
 *
 * @param fvu {@code sum |x - xhat|^2 / sum |x - mean x|^2} over all rows; null where there are none or they do not vary
 * @param requests in the order of their first rows
 */
public record EncodedErrors(@Nullable Double fvu, List<RequestError> requests) {

    public EncodedErrors {
        requests = List.copyOf(requests);
    }

    /** Returns {@code E|x - xhat|^2} over all rows; null where there are none. */
    public @Nullable Double energy() {
        long rows = 0;
        double sum = 0.0;
        for (RequestError request : requests) {
            rows += request.rows();
            sum += request.squaredError();
        }
        return rows == 0 ? null : Double.valueOf(sum / rows);
    }

    /**
     * Returns the errors of n rows.
     *
     * <p>Spreads are taken in a second pass over the rows: {@code sum |x|^2 - n |mean|^2} loses digits where the mean
     * is most of the energy.
     *
     * @param ofRow hash of the request of each row
     * @param targets n x d
     * @param reconstructions n x d
     */
    public static EncodedErrors of(long[] ofRow, Matrix targets, Matrix reconstructions) {
        return of(ofRow, targets, squaredErrors(targets, reconstructions));
    }

    /** Returns the errors of rows whose squared errors are known. */
    static EncodedErrors of(long[] ofRow, Matrix targets, double[] squaredErrors) {
        Map<Long, List<Integer>> rowsOf = new LinkedHashMap<>();
        for (int row = 0; row < ofRow.length; row++) {
            rowsOf.computeIfAbsent(ofRow[row], request -> new ArrayList<>()).add(row);
        }
        List<RequestError> requests = new ArrayList<>();
        List<Integer> all = new ArrayList<>();
        rowsOf.forEach((request, rows) -> {
            requests.add(error(request, rows, targets, squaredErrors));
            all.addAll(rows);
        });
        if (all.isEmpty()) {
            return new EncodedErrors(null, requests);
        }
        RequestError whole = error(0, all, targets, squaredErrors);
        double fvu = whole.squaredError() / whole.spread();
        return new EncodedErrors(Double.isFinite(fvu) ? fvu : null, requests);
    }

    /** Returns {@code |x - xhat|^2} for each row. */
    static double[] squaredErrors(Matrix targets, Matrix reconstructions) {
        int d = targets.columns();
        double[] errors = new double[targets.rows()];
        for (int i = 0; i < targets.values().length; i++) {
            double error = targets.values()[i] - reconstructions.values()[i];
            errors[i / d] += error * error;
        }
        return errors;
    }

    private static RequestError error(long request, List<Integer> rows, Matrix targets, double[] squaredErrors) {
        int d = targets.columns();
        double[] mean = new double[d];
        double squaredError = 0.0;
        for (int row : rows) {
            squaredError += squaredErrors[row];
            for (int j = 0; j < d; j++) {
                mean[j] += targets.values()[row * d + j] / rows.size();
            }
        }
        double spread = 0.0;
        for (int row : rows) {
            for (int j = 0; j < d; j++) {
                double distance = targets.values()[row * d + j] - mean[j];
                spread += distance * distance;
            }
        }
        return new RequestError(request, rows.size(), squaredError, spread);
    }
}
