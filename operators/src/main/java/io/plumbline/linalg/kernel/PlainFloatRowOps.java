package io.plumbline.linalg.kernel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Plain loops, which the compilers of JDK 17 leave scalar since two sizes of number meet in them. */
final class PlainFloatRowOps implements FloatRowOps {

    private static final VarHandle SHORTS =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    @Override
    public void add(double factor, float[] x, int xAt, double[] y, int yAt, int count) {
        for (int j = 0; j < count; j++) {
            y[yAt + j] += factor * x[xAt + j];
        }
    }

    @Override
    public double dot(float[] x, int xAt, float[] y, int yAt, int count) {
        double a = 0.0;
        double b = 0.0;
        double c = 0.0;
        double e = 0.0;
        int j = 0;
        for (; j + 4 <= count; j += 4) {
            a += (double) x[xAt + j] * y[yAt + j];
            b += (double) x[xAt + j + 1] * y[yAt + j + 1];
            c += (double) x[xAt + j + 2] * y[yAt + j + 2];
            e += (double) x[xAt + j + 3] * y[yAt + j + 3];
        }
        for (; j < count; j++) {
            a += (double) x[xAt + j] * y[yAt + j];
        }
        return (a + b) + (c + e);
    }

    @Override
    public void widen(float[] x, int xAt, double[] y, int yAt, int count) {
        for (int j = 0; j < count; j++) {
            y[yAt + j] = x[xAt + j];
        }
    }

    @Override
    public void addBrains(byte[] rows, int count, double[] sums, int columns) {
        for (int row = 0; row < count; row++) {
            addBrains(rows, Short.BYTES * row * columns, sums, 0, columns);
        }
    }

    /** Adds a row from one column on. */
    static void addBrains(byte[] rows, int at, double[] sums, int from, int columns) {
        for (int j = from; j < columns; j++) {
            sums[j] += Float.intBitsToFloat((short) SHORTS.get(rows, at + Short.BYTES * j) << Short.SIZE);
        }
    }
}
