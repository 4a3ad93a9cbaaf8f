package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.BrainPanel;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Compares rows read where they lie with the same rows decoded as a whole. */
class EncodedRowsTest {

    private static final double[] EDGES = {
        0.0,
        -0.0,
        0x1p-149,
        -0x1p-24,
        BrainPanel.SMALLEST,
        -BrainPanel.LARGEST,
        0x1.02p58,
        -0x1.fep-57,
        65_504.0,
        FloatPanel.LARGEST,
        -FloatPanel.LARGEST,
        0x1.02p60,
        -0x1.000002p60,
        -0x1p127,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY
    };

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"I64", "I32"})
    void everyWayToReadGivesTheValuesOfTheWhole(DType type) {
        for (int columns : new int[] {1, 2, 3, 4, 5, 33}) {
            Matrix whole = rows(7L * columns, 6, columns, type);
            EncodedRows rows = encoded(whole, type);
            assertEquals(whole, rows.toMatrix());
            int[] some = {4, 0, 5};
            Matrix kept = rows.keep(some).toMatrix();
            // What is kept of what is kept.
            assertEquals(
                    whole.rowRange(5, 6), rows.keep(some).keep(new int[] {2}).toMatrix());
            float[] part = new float[columns + 2];
            for (int i = 0; i < some.length; i++) {
                assertEquals(whole.rowRange(some[i], some[i] + 1), kept.rowRange(i, i + 1));
                float[] row = rows.keep(some).row(i);
                rows.copy(some[i], 1, part, 2, columns - 1);
                for (int j = 0; j < columns; j++) {
                    double value = whole.get(some[i], j);
                    assertEquals(value, rows.value(some[i], j));
                    assertEquals((float) value, row[j]);
                    assertEquals(
                            j == 0 ? 0f : (float) value, part[j + (j == 0 ? 0 : 1)], "from column 1 on, to place 2");
                }
            }
        }
    }

    /**
     * Tests each edge alone at each place of a record whose length is no multiple of the eight bytes looked at
     * together.
     */
    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"I64", "I32"})
    void rowsFitAPanelIfEveryValueIsAFloatOfItsRange(DType type) {
        for (double edge : EDGES) {
            double value = type.rounded(edge);
            boolean fits = type != DType.F64 && Math.abs(value) <= FloatPanel.LARGEST;
            boolean fitsBrains = type == DType.BF16
                    && Math.abs(value) <= BrainPanel.LARGEST
                    && (value == 0.0 || Math.abs(value) >= BrainPanel.SMALLEST);
            for (int place = 0; place < 9; place++) {
                Matrix whole = rows(place, 3, 3, type);
                whole.values()[place] = edge;
                EncodedRows rows = encoded(whole, type);
                String what = "%s at %d of %s".formatted(edge, place, type);
                assertEquals(fits, rows.fitFloatPanel(), what);
                assertEquals(fits, rows.fitFloatPanel(), what + ", asked again");
                assertEquals(fitsBrains, rows.fitBrainPanel(), what);
                assertEquals(fitsBrains, rows.fitBrainPanel(), what + ", asked again");
                assertEquals(fitsBrains, rows.keep(new int[] {place / 3}).fitBrainPanel(), what + ", alone");
                int[] without = place / 3 == 1 ? new int[] {2, 0} : new int[] {1};
                assertEquals(type != DType.F64, rows.keep(without).fitFloatPanel(), what + ", not kept");
                assertEquals(fits, rows.keep(new int[] {place / 3}).fitFloatPanel(), what + ", alone");
                assertEquals(Math.abs(value) <= Float.MAX_VALUE ? -1 : place, rows.firstBeyond(Float.MAX_VALUE), what);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"I64", "I32"})
    void aRowIsCopiedAsDoublesExactly(DType type) {
        Matrix whole = rows(3, 2, 5, type);
        double[] target = new double[7];
        encoded(whole, type).copy(1, target, 2);
        double[] expected = new double[7];
        System.arraycopy(whole.values(), 5, expected, 2, 5);
        assertArrayEquals(expected, target);
    }

    private static Matrix rows(long seed, int rows, int columns, DType type) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = type.rounded(random.nextDouble(-3, 5));
        }
        return matrix;
    }

    private static EncodedRows encoded(Matrix rows, DType type) {
        byte[] blob = SafetensorsWriter.create().add("activations", type, rows).toBytes();
        return ActivationBlob.parse(blob, new KnownHeaders()).activations();
    }
}
