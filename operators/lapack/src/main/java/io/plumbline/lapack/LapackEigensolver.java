package io.plumbline.lapack;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.linalg.SymmetricEigensolver;
import java.util.ArrayList;
import java.util.List;

/**
 * LAPACK's {@code dsyevd} (divide and conquer; <a href="https://doi.org/10.1137/1.9780898719604">LAPACK Users'
 * Guide</a>), from OpenBLAS or else the machine's {@code liblapack}. About an eighth of ojAlgo's time at d = 2,048.
 * Takes {@code 3 d^2} doubles outside the heap while it runs: 100 MB at d = 2,048.
 *
 * <p>OpenBLAS is held to one thread: its others would spin between calls beside the stream threads.
 */
public final class LapackEigensolver implements SymmetricEigensolver {

    private static final String FUNCTION = "dsyevd_";
    private static final List<String> LIBRARIES = List.of("openblas", "lapack");

    private final String library;
    private final Function dsyevd;

    /** @throws IllegalStateException if no library is there, with where it was looked for and what to install */
    public LapackEigensolver() {
        NativeLibrary found = find();
        this.library =
                found.getFile() == null ? found.getName() : found.getFile().getName();
        this.dsyevd = found.getFunction(FUNCTION);
        holdToOneThread(found);
    }

    private static NativeLibrary find() {
        List<String> refusals = new ArrayList<>();
        for (String name : LIBRARIES) {
            try {
                NativeLibrary found = NativeLibrary.getInstance(name);
                found.getFunction(FUNCTION);
                return found;
            } catch (UnsatisfiedLinkError e) {
                refusals.add(name + ": "
                        + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            }
        }
        throw new IllegalStateException(
                "no LAPACK with dsyevd on this machine (on Debian, `apt-get install libopenblas0`): "
                        + String.join("; ", refusals));
    }

    private static void holdToOneThread(NativeLibrary library) {
        Function setThreads;
        try {
            setThreads = library.getFunction("openblas_set_num_threads");
        } catch (UnsatisfiedLinkError notOpenBlas) {
            return;
        }
        setThreads.invokeVoid(new Object[] {1});
    }

    @Override
    public String name() {
        return "LAPACK of " + library;
    }

    @Override
    public SymmetricEigen decompose(Matrix symmetric) {
        int d = symmetric.rows();
        if (d == 0) {
            return new SymmetricEigen(new double[0], Matrix.zeros(0, 0));
        }
        try (Memory a = new Memory(Double.BYTES * (long) d * d);
                Memory w = new Memory(Double.BYTES * (long) d)) {
            a.write(0, symmetric.values(), 0, d * d);
            IntByReference info = new IntByReference();
            try (Memory size = new Memory(Double.BYTES);
                    Memory integerSize = new Memory(Integer.BYTES)) {
                call(d, a, w, size, -1, integerSize, -1, info);
                int doubles = Math.toIntExact((long) size.getDouble(0));
                int integers = integerSize.getInt(0);
                try (Memory work = new Memory(Double.BYTES * (long) doubles);
                        Memory integerWork = new Memory(Integer.BYTES * (long) integers)) {
                    call(d, a, w, work, doubles, integerWork, integers, info);
                }
            }
            if (info.getValue() != 0) {
                throw new ArithmeticException(
                        "dsyevd of a %d x %d matrix ended with info %d".formatted(d, d, info.getValue()));
            }
            return descending(d, a.getDoubleArray(0, d * d), w.getDoubleArray(0, d));
        }
    }

    /** Calls Fortran: every argument by address, and the lengths of the two strings at the end. */
    private void call(
            int d,
            Pointer a,
            Pointer w,
            Pointer work,
            int doubles,
            Pointer integerWork,
            int integers,
            IntByReference info) {
        IntByReference order = new IntByReference(d);
        dsyevd.invokeVoid(new Object[] {
            "V",
            "L",
            order,
            a,
            order,
            w,
            work,
            new IntByReference(doubles),
            integerWork,
            new IntByReference(integers),
            info,
            1L,
            1L
        });
    }

    /** LAPACK's vectors are columns in column-major order, eigenvalues ascending. */
    private static SymmetricEigen descending(int d, double[] columns, double[] ascending) {
        double[] values = new double[d];
        Matrix vectors = Matrix.zeros(d, d);
        for (int j = 0; j < d; j++) {
            int from = d - 1 - j;
            values[j] = ascending[from];
            for (int i = 0; i < d; i++) {
                vectors.set(i, j, columns[from * d + i]);
            }
        }
        return new SymmetricEigen(values, vectors);
    }
}
