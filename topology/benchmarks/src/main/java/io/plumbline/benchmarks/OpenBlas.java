package io.plumbline.benchmarks;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/** The functions of the system's OpenBLAS that are measured, on memory outside of the heap: nothing is copied. */
final class OpenBlas {

    static final int ROW_MAJOR = 101;
    static final int PLAIN = 111;
    static final int TRANSPOSED = 112;
    static final int LOWER = 122;

    private static int threads;

    private OpenBlas() {}

    /**
     * Binds the library.
     *
     * @throws UnsatisfiedLinkError when it is not installed
     */
    static void bind() {
        UnsatisfiedLinkError last = new UnsatisfiedLinkError();
        for (String name : new String[] {"libopenblas.so.0", "openblas"}) {
            try {
                Native.register(OpenBlas.class, NativeLibrary.getInstance(name));
                return;
            } catch (UnsatisfiedLinkError e) {
                last = e;
            }
        }
        throw last;
    }

    /** Sets the number of threads from here on. */
    static void useThreads(int count) {
        if (threads != count) {
            openblas_set_num_threads(count);
            threads = count;
        }
    }

    static Memory of(double[] values) {
        Memory memory = new Memory(8L * values.length);
        memory.write(0, values, 0, values.length);
        return memory;
    }

    /** Returns the values as float32 in native memory. */
    static Memory floatsOf(double[] values) {
        Memory memory = new Memory(4L * values.length);
        for (int i = 0; i < values.length; i++) {
            memory.setFloat(4L * i, (float) values[i]);
        }
        return memory;
    }

    static Memory zeros(long bytes) {
        Memory memory = new Memory(bytes);
        memory.clear();
        return memory;
    }

    static void copy(Memory from, Memory to) {
        to.getByteBuffer(0, to.size()).put(from.getByteBuffer(0, from.size()));
    }

    static native void openblas_set_num_threads(int count);

    static native String openblas_get_config();

    static native String openblas_get_corename();

    static native void cblas_dsyrk(
            int order,
            int triangle,
            int transpose,
            int n,
            int k,
            double alpha,
            Pointer a,
            int lda,
            double beta,
            Pointer c,
            int ldc);

    static native void cblas_ssyrk(
            int order,
            int triangle,
            int transpose,
            int n,
            int k,
            float alpha,
            Pointer a,
            int lda,
            float beta,
            Pointer c,
            int ldc);

    static native void cblas_dgemm(
            int order,
            int left,
            int right,
            int m,
            int n,
            int k,
            double alpha,
            Pointer a,
            int lda,
            Pointer b,
            int ldb,
            double beta,
            Pointer c,
            int ldc);

    static native void cblas_sgemm(
            int order,
            int left,
            int right,
            int m,
            int n,
            int k,
            float alpha,
            Pointer a,
            int lda,
            Pointer b,
            int ldb,
            float beta,
            Pointer c,
            int ldc);

    static native void dpotrf_(byte[] triangle, int[] n, Pointer a, int[] lda, int[] info);

    static native void dpotrs_(
            byte[] triangle, int[] n, int[] columns, Pointer a, int[] lda, Pointer b, int[] ldb, int[] info);

    static native void dsyevr_(
            byte[] what,
            byte[] range,
            byte[] triangle,
            int[] n,
            Pointer a,
            int[] lda,
            double[] from,
            double[] to,
            int[] first,
            int[] last,
            double[] tolerance,
            int[] found,
            Pointer w,
            Pointer z,
            int[] ldz,
            Pointer support,
            Pointer work,
            int[] workLength,
            Pointer integers,
            int[] integersLength,
            int[] info);
}
