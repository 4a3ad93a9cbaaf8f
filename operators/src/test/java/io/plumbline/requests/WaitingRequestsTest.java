package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.EncodedRows;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WaitingRequestsTest {

    /** Tests 40 requests, over and over; 20 are kept. Some widths are whole blocks of columns, others are not. */
    @ParameterizedTest
    @EnumSource(names = {"F64", "F32", "F16", "BF16"})
    void whatWaitedIsAddedAsIfEachRecordHadBeenProjectedAlone(DType type) {
        for (int dimension : new int[] {1, 3, 4, 13, 64}) {
            SplittableRandom random = new SplittableRandom(dimension);
            RequestProjection projection = RequestProjection.of(integers(dimension, 5, dimension));
            WaitingRequests waiting = new WaitingRequests(projection);
            RequestTotals expected = RequestTotals.ofCapacity(projection.id(), 20);
            RequestTotals found = RequestTotals.ofCapacity(projection.id(), 20);
            RequestTotals also = RequestTotals.ofCapacity(projection.id(), 20);
            for (int record = 0; record < 200; record++) {
                long request = random.nextInt(40);
                String name = request % 2 == 0 ? null : "request " + request;
                Matrix rows = integers(record, 1 + record % 37, dimension);
                double[] sum = new double[5];
                projection.add(rows, sum);
                expected.add(request, name, rows.rows(), sum);
                waiting.add(request, name, encoded(rows, type));
                if (waiting.isFull()) {
                    waiting.drainTo(found, also);
                }
            }
            waiting.drainTo(found, also);
            waiting.drainTo(found, also);
            assertEquals(expected.totals(), found.totals(), type + " of width " + dimension);
            assertEquals(expected.recordsNotKept(), found.recordsNotKept());
            assertEquals(found.totals(), also.totals());
        }
    }

    @Test
    void itIsFullWithSixteenRequestsAndNotWithSixteenRecords() {
        WaitingRequests waiting = new WaitingRequests(RequestProjection.of(Matrix.identity(2)));
        EncodedRows row = encoded(integers(1, 1, 2), DType.F32);
        for (int request = 0; request < 15; request++) {
            waiting.add(request, null, row);
            waiting.add(request, null, row);
            assertEquals(false, waiting.isFull(), "request " + request);
        }
        waiting.add(15, null, row);
        assertTrue(waiting.isFull());
    }

    @Test
    void onlyRowsThatAreKeptAreAdded() {
        Matrix rows = integers(1, 6, 2);
        RequestProjection projection = RequestProjection.of(Matrix.identity(2));
        WaitingRequests waiting = new WaitingRequests(projection);
        ActivationBlob blob = ActivationBlob.parse(
                SafetensorsWriter.create().add("activations", DType.F32, rows).toBytes(), new KnownHeaders());
        waiting.add(9, null, blob.keep(new int[] {1, 4}).activations());
        RequestTotals totals = RequestTotals.ofCapacity(projection.id(), 2);
        waiting.drainTo(totals);
        double[] sum = {rows.get(1, 0) + rows.get(4, 0), rows.get(1, 1) + rows.get(4, 1)};
        assertEquals(new RequestTotal(9, null, 2, sum), totals.totals().get(0));
    }

    /** Single rows may be as large as float32 holds. */
    @Test
    void sumsBeyondTheRangeOfFloatAreExact() {
        RequestProjection projection = RequestProjection.of(Matrix.identity(1));
        WaitingRequests waiting = new WaitingRequests(projection);
        double[] large = {Float.MAX_VALUE, Float.MAX_VALUE, Float.MAX_VALUE};
        waiting.add(1, null, encoded(new Matrix(3, 1, large), DType.F32));
        RequestTotals totals = RequestTotals.ofCapacity(projection.id(), 2);
        waiting.drainTo(totals);
        assertEquals(3.0 * Float.MAX_VALUE, totals.totals().get(0).sum()[0]);
    }

    @Test
    void sumsOfRealRowsHaveTheErrorOfAFewFloats() {
        SplittableRandom random = new SplittableRandom(2);
        Matrix rows = Matrix.zeros(500, 3);
        for (int i = 0; i < rows.values().length; i++) {
            rows.values()[i] = (float) random.nextDouble(-3, 5);
        }
        RequestProjection projection = RequestProjection.of(Matrix.identity(3));
        WaitingRequests waiting = new WaitingRequests(projection);
        waiting.add(1, null, encoded(rows, DType.F32));
        RequestTotals totals = RequestTotals.ofCapacity(projection.id(), 2);
        waiting.drainTo(totals);
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            double size = 0;
            for (int i = 0; i < rows.rows(); i++) {
                sum += rows.get(i, j);
                size += Math.abs(rows.get(i, j));
            }
            assertEquals(sum, totals.totals().get(0).sum()[j], size * 0x1p-20);
        }
    }

    @Test
    void rowsOfAnotherWidthAreRefused() {
        WaitingRequests waiting = new WaitingRequests(RequestProjection.of(Matrix.identity(3)));
        assertThrows(IllegalArgumentException.class, () -> waiting.add(1, null, encoded(integers(1, 2, 4), DType.F32)));
    }

    private static Matrix integers(long seed, int rows, int columns) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-8, 9);
        }
        return matrix;
    }

    private static EncodedRows encoded(Matrix rows, DType type) {
        return ActivationBlob.parse(
                        SafetensorsWriter.create()
                                .add("activations", type, rows)
                                .toBytes(),
                        new KnownHeaders())
                .activations();
    }
}
