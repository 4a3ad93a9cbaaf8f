package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.NonFiniteRowException;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RequestSampleTest {

    private static final int CAPACITY = 100;

    /** Returns request i: 3 to 11 rows [i, row]. */
    private static ActivationBatch request(int index) {
        return request(index, 3 + index % 9);
    }

    private static ActivationBatch request(int index, int rows) {
        Matrix matrix = Matrix.zeros(rows, 2);
        for (int row = 0; row < rows; row++) {
            matrix.set(row, 0, index);
            matrix.set(row, 1, row);
        }
        return new ActivationBatch(matrix, null, null);
    }

    private static RequestSample sample(List<Integer> requests) {
        RequestSample sample = RequestSample.ofCapacity(CAPACITY);
        requests.forEach(index -> sample.add(request(index)));
        return sample;
    }

    private static List<Integer> numbers(int count) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(i);
        }
        return numbers;
    }

    @Test
    void wholeRequestsAreKeptInTheOrderOfTheirHashesUntilTheRowsAreFull() {
        List<Integer> byHash = numbers(60);
        byHash.sort(Comparator.comparingLong(index -> RequestSample.hash(request(index))));
        List<SampledRow> rows = sample(numbers(60)).rows();
        int next = 0;
        for (int index : byHash) {
            int length = request(index).rows();
            if (next + length > CAPACITY) {
                break;
            }
            for (int row = 0; row < length; row++) {
                assertArrayEquals(new float[] {index, row}, rows.get(next).activation());
                assertNull(rows.get(next).target());
                assertEquals(rows.get(next - row).request(), rows.get(next).request());
                next++;
            }
        }
        assertEquals(next, rows.size(), "what follows a request that does not fit does not slip in");
        assertTrue(next > CAPACITY - 12, "no room is left for a request");
    }

    @Test
    void theOrderOfRequestsAndTheirRepetitionDoNotMatter() {
        List<SampledRow> expected = sample(numbers(300)).rows();
        for (int seed = 0; seed < 20; seed++) {
            List<Integer> shuffled = numbers(300);
            shuffled.addAll(numbers(100));
            Collections.shuffle(shuffled, new Random(seed));
            List<SampledRow> rows = sample(shuffled).rows();
            assertEquals(expected.size(), rows.size(), "seed " + seed);
            for (int i = 0; i < rows.size(); i++) {
                assertEquals(expected.get(i).hash(), rows.get(i).hash(), "seed " + seed);
                assertArrayEquals(expected.get(i).activation(), rows.get(i).activation(), "seed " + seed);
            }
        }
    }

    @Test
    void everyPartOfALongRecordingIsAsLikely() {
        int late = 0;
        int kept = 0;
        for (int recording = 0; recording < 50; recording++) {
            RequestSample sample = RequestSample.ofCapacity(CAPACITY);
            for (int i = 0; i < 200; i++) {
                sample.add(request(1_000 * recording + i, 5));
            }
            for (SampledRow row : sample.rows()) {
                kept++;
                late += row.activation()[0] - 1_000 * recording >= 100 ? 1 : 0;
            }
        }
        // 1,000 requests of 5 rows: half of them within 4 standard deviations.
        assertEquals(5_000, kept);
        assertEquals(0.5, (double) late / kept, 4 * 0.5 / Math.sqrt(1_000));
    }

    @Test
    void aLongRequestGivesOneStretchFromAPlaceOfItsOwn() {
        RequestSample sample = RequestSample.ofCapacity(CAPACITY);
        for (int i = 0; i < 8; i++) {
            sample.add(request(i, 1_000));
        }
        List<SampledRow> rows = sample.rows();
        assertEquals(96, rows.size(), "8 stretches of an eighth");
        float sum = 0;
        for (int i = 0; i < 96; i += 12) {
            float first = rows.get(i).activation()[1];
            sum += first;
            for (int row = 1; row < 12; row++) {
                assertEquals(first + row, rows.get(i + row).activation()[1]);
                assertEquals(rows.get(i).request(), rows.get(i + row).request());
            }
        }
        assertTrue(sum / 8 > 200 && sum / 8 < 800, "mean place of a stretch in 1,000 rows: " + sum / 8);
    }

    @Test
    void targetsAreKeptBesideTheirActivationsAndTellRequestsApart() {
        Matrix input = Matrix.identity(3);
        ActivationBatch one = new ActivationBatch(input, Matrix.zeros(3, 1), null);
        Matrix other = Matrix.zeros(3, 1);
        other.set(2, 0, 7);
        ActivationBatch two = new ActivationBatch(input, other, null);
        assertNotEquals(RequestSample.hash(one), RequestSample.hash(two));
        List<SampledRow> rows =
                RequestSample.ofCapacity(CAPACITY).add(one).add(two).rows();
        assertEquals(6, rows.size());
        float sum = 0;
        for (SampledRow row : rows) {
            float[] target = row.target();
            assertNotNull(target);
            assertEquals(3, row.activation().length);
            sum += target[0];
        }
        assertEquals(7, sum);
    }

    @Test
    void valuesFloatsCannotHoldAreRefused() {
        Matrix large = Matrix.identity(2);
        large.set(1, 0, 1e39);
        RequestSample sample = RequestSample.ofCapacity(CAPACITY);
        assertThrows(NonFiniteRowException.class, () -> sample.add(new ActivationBatch(large, null, null)));
        assertEquals(0, sample.rows().size());
        assertThrows(IllegalArgumentException.class, () -> RequestSample.ofCapacity(7));
    }
}
