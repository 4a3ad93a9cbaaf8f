package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.parallel.Cores;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a row's codes are the same whenever and with whatever rows they are computed. */
class SampledCodesTest {

    private static final int ROWS = 150;

    /**
     * Returns encoders that are held as floats, from a million weights on, and others in float64. Sizes that fill no
     * tile.
     */
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
                    List<SparseCodes> parts = new ArrayList<>();
                    for (int from = 0; from < ROWS; from += batch) {
                        parts.add(SampledCodes.of(encoder, rows.subList(from, Math.min(from + batch, ROWS))));
                    }
                    SparseCodes joined = SparseCodes.joined(encoder.features(), parts);
                    assertEquals(whole, joined, "batches of %d on %s threads".formatted(batch, threads));
                    assertTrue(Arrays.equals(whole.value(), joined.value()), "to the last bit");
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
}
