package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KnownCodesTest {

    private static final int WIDTH = 5;
    private static final int FEATURES = 9;

    private final List<Integer> encoded = new ArrayList<>();
    private final Encoder encoder = new Counting();

    private final class Counting implements Encoder {
        private final Encoder relu;

        Counting() {
            Random random = new Random(1);
            Matrix weights = Matrix.zeros(FEATURES, WIDTH);
            for (int i = 0; i < weights.values().length; i++) {
                weights.values()[i] = random.nextGaussian();
            }
            relu = ReluEncoder.of(weights, new double[FEATURES]);
        }

        @Override
        public int inputWidth() {
            return WIDTH;
        }

        @Override
        public int features() {
            return FEATURES;
        }

        @Override
        public SparseCodes encode(Matrix rows) {
            encoded.add(rows.rows());
            return relu.encode(rows);
        }
    }

    @Test
    void rowsThatAreKnownAreNotEncodedAgainInWhateverOrderTheyAreAskedFor() {
        List<SampledRow> rows = rows(6);
        KnownCodes known = KnownCodes.of(rows.subList(0, 4), SampledCodes.of(encoder, rows.subList(0, 4)));
        encoded.clear();
        List<SampledRow> asked =
                List.of(rows.get(5), rows.get(2), rows.get(0), rows.get(4), rows.get(3), copy(rows.get(1)));
        SparseCodes found = known.of(encoder, asked);
        assertEquals(List.of(2), encoded);
        assertEquals(SampledCodes.of(encoder, asked), found);
    }

    @Test
    void aRowOfTheSameHashAndOtherNumbersIsEncoded() {
        List<SampledRow> rows = rows(2);
        KnownCodes known = KnownCodes.of(rows, SampledCodes.of(encoder, rows));
        SampledRow other =
                new SampledRow(rows.get(0).hash(), 0, 0, rows(3).get(2).activation(), null);
        assertEquals(SampledCodes.of(encoder, List.of(other)), known.of(encoder, List.of(other)));
    }

    @Test
    void nothingKnownEncodesEveryRow() {
        assertEquals(SampledCodes.of(encoder, rows(3)), KnownCodes.NONE.of(encoder, rows(3)));
        assertEquals(List.of(3, 3), encoded);
    }

    @Test
    void codesOfOtherRowsAreRefused() {
        SparseCodes codes = SampledCodes.of(encoder, rows(3));
        assertThrows(IllegalArgumentException.class, () -> KnownCodes.of(rows(2), codes));
    }

    private static SampledRow copy(SampledRow row) {
        return new SampledRow(row.hash(), row.request(), 7, row.activation().clone(), null);
    }

    private static List<SampledRow> rows(int count) {
        Random random = new Random(2);
        List<SampledRow> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            float[] activation = new float[WIDTH];
            for (int j = 0; j < WIDTH; j++) {
                activation[j] = (float) random.nextGaussian();
            }
            rows.add(new SampledRow(100 + i, i, 0, activation, null));
        }
        return rows;
    }
}
