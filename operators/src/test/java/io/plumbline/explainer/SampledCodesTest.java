package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Cores;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowCodes;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A row's codes are the same whenever and with whatever rows they are computed. */
class SampledCodesTest {

    private static final int ROWS = 150;

    /** Held as floats from a million weights on; the others in float64. Sizes that fill no tile. */
    static Stream<Arguments> encoders() {
        return Stream.of(
                Arguments.of("topk, floats", TopKEncoder.of(weights(3331, 317, true), bias(3331), 24)),
                Arguments.of("jumprelu, floats", JumpReluEncoder.of(weights(3331, 317, true), bias(3331), high(3331))),
                Arguments.of("relu, float64", ReluEncoder.of(weights(301, 45, false), low(301))),
                Arguments.of("topk, float64", TopKEncoder.of(weights(2900, 45, false), bias(2900), 13)));
    }

    @ParameterizedTest
    @ValueSource(ints = {44, 46})
    void aRowOfAnotherWidthIsRefusedAndDoesNotReachIntoTheNext(int width) {
        Encoder encoder = ReluEncoder.of(weights(301, 45, false), low(301));
        List<SampledRow> rows =
                List.of(new SampledRow(1, 1, 0, new float[width], null), new SampledRow(2, 1, 0, new float[45], null));
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> SampledCodes.of(encoder, rows));
        assertEquals("sampled row 0 has %d values: expected 45".formatted(width), refused.getMessage());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("encoders")
    void theCodesOfARowDoNotDependOnTheRowsOrTheThreadsItIsEncodedWith(String name, Encoder encoder) {
        List<SampledRow> rows = rows(encoder.inputWidth());
        SparseCodes whole = SampledCodes.of(encoder, rows);
        String before = System.getProperty(Cores.PROPERTY);
        try {
            for (String threads : List.of("1", "3")) {
                System.setProperty(Cores.PROPERTY, threads);
                for (int batch : new int[] {1, 7, 64, 65, ROWS}) {
                    List<SampledRow> encoded = new ArrayList<>();
                    for (int from = 0; from < ROWS; from += batch) {
                        encoded.addAll(ahead(encoder, rows.subList(from, Math.min(from + batch, ROWS))));
                    }
                    assertEquals(List.of(), SampledCodes.missing(encoder, encoded));
                    SparseCodes early = SampledCodes.of(encoder, encoded);
                    assertEquals(whole, early, "batches of %d on %s threads".formatted(batch, threads));
                    assertTrue(Arrays.equals(whole.value(), early.value()), "to the last bit");
                }
            }
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("encoders")
    void rowsWithoutCodesAndThoseOfOthersAreEncodedInTheirPlaces(String name, Encoder encoder) {
        List<SampledRow> rows = rows(encoder.inputWidth());
        List<SampledRow> mixed = new ArrayList<>(rows);
        List<SampledRow> early = ahead(encoder, rows);
        for (int row = 0; row < ROWS; row += 3) {
            mixed.set(row, early.get(row));
        }
        Encoder other =
                TopKEncoder.of(weights(encoder.features(), encoder.inputWidth(), false), bias(encoder.features()), 5);
        List<SampledRow> foreign = ahead(other, rows);
        for (int row = 1; row < ROWS; row += 3) {
            mixed.set(row, foreign.get(row));
        }
        assertEquals(ROWS - ROWS / 3, SampledCodes.missing(encoder, mixed).size());
        assertEquals(SampledCodes.of(encoder, rows), SampledCodes.of(encoder, mixed));
    }

    /** Another weight, bias, threshold, k or kind gives other codes, and so another name. */
    @Test
    void encodersThatDifferHaveOtherNamesAndEqualOnesTheSame() {
        for (int width : new int[] {7, 350}) {
            int features = 3001;
            Matrix weights = weights(features, width, true);
            Encoder topK = TopKEncoder.of(weights, bias(features), 4);
            assertEquals(
                    topK.id(),
                    TopKEncoder.of(weights(features, width, true), bias(features), 4)
                            .id());
            Matrix turned = weights(features, width, true);
            turned.set(features - 1, width - 1, -2 * turned.get(features - 1, width - 1));
            double[] moved = bias(features);
            moved[features - 1] += 0.5;
            double[] higher = high(features);
            higher[features - 1] += 0.5;
            List<String> names = Stream.of(
                            topK,
                            TopKEncoder.of(weights, bias(features), 5),
                            TopKEncoder.of(turned, bias(features), 4),
                            TopKEncoder.of(weights, moved, 4),
                            ReluEncoder.of(weights, bias(features)),
                            JumpReluEncoder.of(weights, bias(features), high(features)),
                            JumpReluEncoder.of(weights, bias(features), higher))
                    .map(encoder -> encoder.id().sha256())
                    .toList();
            assertEquals(names.size(), names.stream().distinct().count(), names::toString);
        }
    }

    @Test
    void aRowOfTooManyFeaturesGoesWithoutItsCodes() {
        int width = 9;
        Encoder dense = ReluEncoder.of(
                Matrix.zeros(RowCodes.mostEntries(width) + 1, width), ones(RowCodes.mostEntries(width) + 1));
        Encoder sparse =
                ReluEncoder.of(Matrix.zeros(RowCodes.mostEntries(width), width), ones(RowCodes.mostEntries(width)));
        assertNotEquals(dense.id(), sparse.id());
        List<SampledRow> rows = rows(width).subList(0, 2);
        assertNull(SampledCodes.ahead(dense, rows).get(1));
        assertNotNull(SampledCodes.ahead(sparse, rows).get(1));
    }

    @Test
    void aRowBeyondAllNumbersGoesWithoutItsCodes() {
        Encoder huge = ReluEncoder.of(new Matrix(2, 2, new double[] {1e308, 1e308, 1, 0}), new double[2]);
        List<SampledRow> rows = List.of(
                new SampledRow(1, 1, 0, new float[] {100, 100}, null),
                new SampledRow(2, 1, 0, new float[] {1, 0}, null));
        assertNull(SampledCodes.ahead(huge, rows).get(0));
        assertNotNull(SampledCodes.ahead(huge, rows).get(1));
    }

    private static List<SampledRow> ahead(Encoder encoder, List<SampledRow> rows) {
        List<RowCodes> codes = SampledCodes.ahead(encoder, rows);
        List<SampledRow> encoded = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            SampledRow row = rows.get(i);
            encoded.add(new SampledRow(
                    row.hash(), row.request(), row.timestampMs(), row.activation(), row.target(), codes.get(i)));
        }
        return encoded;
    }

    private static List<SampledRow> rows(int width) {
        SplittableRandom random = new SplittableRandom(5);
        List<SampledRow> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            float[] values = new float[width];
            for (int j = 0; j < width; j++) {
                values[j] = (float) random.nextDouble(-2, 2);
            }
            rows.add(new SampledRow(i, i, 0, values, null));
        }
        return rows;
    }

    private static Matrix weights(int features, int width, boolean floats) {
        SplittableRandom random = new SplittableRandom(6);
        Matrix weights = Matrix.zeros(features, width);
        for (int i = 0; i < weights.values().length; i++) {
            double weight = random.nextDouble(-0.3, 0.3);
            weights.values()[i] = floats ? (float) weight : weight;
        }
        return weights;
    }

    private static double[] bias(int features) {
        double[] bias = new double[features];
        Arrays.fill(bias, -0.75);
        return bias;
    }

    private static double[] low(int features) {
        double[] bias = new double[features];
        Arrays.fill(bias, -2.0);
        return bias;
    }

    private static double[] high(int features) {
        double[] threshold = new double[features];
        Arrays.fill(threshold, 5.0);
        return threshold;
    }

    private static double[] ones(int width) {
        double[] ones = new double[width];
        Arrays.fill(ones, 1.0);
        return ones;
    }
}
