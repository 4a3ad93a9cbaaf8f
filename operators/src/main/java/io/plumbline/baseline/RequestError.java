package io.plumbline.baseline;

/**
 * Errors of a reconstruction on rows of one request.
 *
 * @param request hash of the request
 * @param rows encoded rows of it, at least 1
 * @param squaredError {@code sum |x - xhat|^2} over these rows, in squared activations
 * @param spread {@code sum |x - mean x|^2} over these rows, with their own mean, in squared activations
 */
record RequestError(long request, long rows, double squaredError, double spread) {

    /** Returns whether there is a variance that could be left unexplained. */
    boolean varies() {
        return rows >= 2 && spread > 0.0 && Double.isFinite(squaredError / spread);
    }

    /** Fraction of the request's variance that is left unexplained; the spread is corrected for the rows' own mean. */
    double fvu() {
        return fvu(rows, squaredError, spread);
    }

    /** Returns that fraction from its parts; NaN or infinite where the rows do not vary. */
    static double fvu(long rows, double squaredError, double spread) {
        return squaredError / spread * (rows - 1.0) / rows;
    }
}
