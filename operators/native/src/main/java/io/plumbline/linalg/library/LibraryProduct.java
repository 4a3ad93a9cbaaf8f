package io.plumbline.linalg.library;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.plumbline.linalg.kernel.BrainProduct;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * The product by a function that MKL calls {@code cblas_gemm_bf16bf16f32} and OpenBLAS {@code cblas_sbgemm}, of the
 * same arguments. One library in a process: a class is bound to one.
 */
final class LibraryProduct implements BrainProduct {

    private static final int ROW_MAJOR = 101;
    private static final int PLAIN = 111;
    private static final int TRANSPOSED = 112;

    private final String description;

    /** @param library whose function mapper says the function's name */
    LibraryProduct(NativeLibrary library, String description) {
        Native.register(LibraryProduct.class, library);
        this.description = description;
    }

    @Override
    public void multiply(ByteBuffer numbers, int pitch, int count, int a, int m, int b, int n, FloatBuffer c) {
        if (m == 0 || n == 0 || count == 0) {
            throw new IllegalArgumentException("a product of %d x %d and %d x %d".formatted(m, count, count, n));
        }
        long last = (count - 1L) * pitch + Math.max(a + m, b + n);
        if (a < 0
                || b < 0
                || pitch < Math.max(m, n)
                || Short.BYTES * last > numbers.capacity()
                || m * n > c.capacity()) {
            throw new IndexOutOfBoundsException("%d numbers of %d, %d products of %d"
                    .formatted(last, numbers.capacity() / Short.BYTES, m * n, c.capacity()));
        }
        long from = Pointer.nativeValue(Native.getDirectBufferPointer(numbers));
        long to = Pointer.nativeValue(Native.getDirectBufferPointer(c));
        gemm(
                ROW_MAJOR,
                TRANSPOSED,
                PLAIN,
                m,
                n,
                count,
                1f,
                from + (long) Short.BYTES * a,
                pitch,
                from + (long) Short.BYTES * b,
                pitch,
                0f,
                to,
                n);
    }

    /** Addresses are numbers: nothing is made for a call. */
    private static native void gemm(
            int order,
            int turnA,
            int turnB,
            int m,
            int n,
            int k,
            float alpha,
            long a,
            int pitchA,
            long b,
            int pitchB,
            float beta,
            long c,
            int pitchC);

    @Override
    public String toString() {
        return description;
    }
}
