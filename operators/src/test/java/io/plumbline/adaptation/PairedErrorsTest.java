package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import org.junit.jupiter.api.Test;

class PairedErrorsTest {

    private static final Decoder ONES = decoder(1.0);
    private static final Decoder TWOS = decoder(2.0);

    /** Rows 0 and 2 are one request, though another stands between them. */
    private static final SampleRows ROWS = new SampleRows(
            SparseCodes.fromDense(new Matrix(4, 1, new double[] {1, 1, 2, 3})),
            new Matrix(4, 1, new double[] {3, 1, 4, 0}),
            new long[] {7, 5, 7, -1});

    @Test
    void errorsAreSummedByRequestWhereverItsRowsStand() {
        // Row by row |y - z|^2 is 4, 0, 4, 9 and |y - 2 z|^2 is 1, 1, 0, 36.
        double[][] sums = RequestErrors.of(ONES, TWOS, ROWS);
        assertEquals(3, sums.length);
        assertEquals(8.0, sums[0][0]);
        assertEquals(7.0, sums[0][1]);
        assertEquals(0.0, sums[1][0]);
        assertEquals(-1.0, sums[1][1]);
        assertEquals(-27.0, sums[2][1]);
    }

    @Test
    void theDifferenceIsTheFirstDecodersErrorLessTheSeconds() {
        PairedErrors errors = PairedErrors.of(ROWS, ONES, TWOS);
        assertEquals(3, errors.requests());
        assertEquals(-7.0, errors.meanDifference(), 1e-14);
        assertEquals(-PairedErrors.of(ROWS, TWOS, ONES).meanDifference(), errors.meanDifference(), 1e-14);
    }

    private static Decoder decoder(double weight) {
        return new Decoder(new Matrix(1, 1, new double[] {weight}), new double[1]);
    }
}
