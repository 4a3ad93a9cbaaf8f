package io.plumbline.benchmarks;

import dev.ludovic.netlib.blas.BLAS;
import dev.ludovic.netlib.blas.JavaBLAS;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.ArrayRealVector;
import org.apache.commons.math3.linear.BlockRealMatrix;
import org.apache.commons.math3.linear.CholeskyDecomposition;
import org.apache.commons.math3.linear.EigenDecomposition;
import org.apache.commons.math3.linear.RealMatrix;
import org.ejml.concurrency.EjmlConcurrency;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.ojalgo.OjAlgoUtils;
import org.ojalgo.matrix.decomposition.Cholesky;
import org.ojalgo.matrix.decomposition.Eigenvalue;
import org.ojalgo.matrix.store.MatrixStore;
import org.ojalgo.matrix.store.R064Store;

/**
 * Runs ojAlgo, EJML, Commons Math and netlib's Java BLAS, on one thread. The first three have no update: they compute
 * {@code X^T X} from nothing, which is less work than adding it to a moment.
 */
final class JavaRivals implements KernelRivals {

    private static final int LARGE_DECOMPOSITION = 1024;

    /** The logger of netlib, held or its level would be forgotten: it announces itself on standard error. */
    private static final Logger NETLIB = Logger.getLogger("dev.ludovic.netlib.blas.InstanceBuilder");

    private JavaRivals() {}

    /** Holds all of them to one thread, for the rest of the process. */
    static JavaRivals onOneThread() {
        NETLIB.setLevel(Level.WARNING);
        OjAlgoUtils.limitThreadsTo(1);
        EjmlConcurrency.USE_CONCURRENT = false;
        return new JavaRivals();
    }

    @Override
    public List<String> notes() {
        return List.of("netlib: %s".formatted(JavaBLAS.getInstance().getClass().getSimpleName()));
    }

    @Override
    public List<Variant> variants(KernelCase work) {
        if (work.threads() > 1 || work.isLarge()) {
            return List.of();
        }
        return switch (work.kind()) {
            case UPDATE -> List.of(ejmlUpdate(work), ojAlgoUpdate(work), commonsUpdate(work), netlibUpdate(work));
            case PRODUCT, TOP_K -> List.of();
            case CHOLESKY -> choleskys(work);
            case EIGENSPACE -> eigens(work);
        };
    }

    private static Variant ejmlUpdate(KernelCase work) {
        DMatrixRMaj rows = DMatrixRMaj.wrap(work.n(), work.d(), work.rows());
        DMatrixRMaj product = new DMatrixRMaj(work.d(), work.d());
        Runnable multiply = () -> CommonOps_DDRM.multInner(rows, product);
        return Variant.single("EJML", multiply, () -> {
            multiply.run();
            return work.entries(product::get);
        });
    }

    private static Variant ojAlgoUpdate(KernelCase work) {
        R064Store rows = store(work.n(), work.d(), work.rows());
        MatrixStore<Double> columns = rows.transpose().copy();
        R064Store product = R064Store.FACTORY.make(work.d(), work.d());
        Runnable multiply = () -> product.fillByMultiplying(columns, rows);
        return Variant.single(OJALGO, multiply, () -> {
            multiply.run();
            return work.entries((i, j) -> product.doubleValue(i, j));
        });
    }

    private static Variant commonsUpdate(KernelCase work) {
        RealMatrix rows = new BlockRealMatrix(work.n(), work.d());
        double[] values = work.rows();
        for (int i = 0; i < work.n(); i++) {
            rows.setRow(i, Arrays.copyOfRange(values, i * work.d(), (i + 1) * work.d()));
        }
        return Variant.single(
                COMMONS_MATH,
                () -> rows.transpose().multiply(rows),
                () -> work.entries(rows.transpose().multiply(rows)::getEntry));
    }

    private static Variant netlibUpdate(KernelCase work) {
        BLAS blas = JavaBLAS.getInstance();
        int d = work.d();
        double[] rows = work.rows();
        double[] moment = new double[d * d];
        // Column-major: a row of ours is a column of X^T, and the upper triangle the lower one.
        Runnable update = () -> blas.dsyrk("U", "N", d, work.n(), 1.0, rows, d, 1.0, moment, d);
        return Variant.single("netlib, Java, dsyrk", update, () -> {
            Arrays.fill(moment, 0.0);
            update.run();
            return work.entries((i, j) -> moment[i * d + j]);
        });
    }

    private static List<Variant> choleskys(KernelCase work) {
        int n = work.d();
        double[] matrix = work.matrix();
        List<Variant> variants = new ArrayList<>();
        R064Store store = store(n, n, matrix);
        variants.add(Variant.single(OJALGO, () -> Cholesky.R064.make(store).decompose(store), () -> {
            Cholesky<Double> cholesky = Cholesky.R064.make(store);
            cholesky.decompose(store);
            return cholesky.getSolution(store(n, 1, work.rowSums(matrix))).toRawCopy1D();
        }));
        if (n <= LARGE_DECOMPOSITION) {
            RealMatrix rows = new Array2DRowRealMatrix(n, n);
            for (int i = 0; i < n; i++) {
                rows.setRow(i, Arrays.copyOfRange(matrix, i * n, (i + 1) * n));
            }
            variants.add(Variant.single(
                    COMMONS_MATH, () -> new CholeskyDecomposition(rows), () -> new CholeskyDecomposition(rows)
                            .getSolver()
                            .solve(new ArrayRealVector(work.rowSums(matrix)))
                            .toArray()));
        }
        return variants;
    }

    private static List<Variant> eigens(KernelCase work) {
        int n = work.d();
        if (n > LARGE_DECOMPOSITION) {
            return List.of();
        }
        double[] matrix = work.matrix();
        R064Store store = store(n, n, matrix);
        Variant ojAlgo =
                Variant.single(OJALGO, () -> Eigenvalue.R064.make(store, true).decompose(store), () -> {
                    Eigenvalue<Double> eigen = Eigenvalue.R064.make(store, true);
                    eigen.decompose(store);
                    double[] values = new double[n];
                    for (int i = 0; i < n; i++) {
                        values[i] = -eigen.getD().doubleValue(i, i);
                    }
                    Arrays.sort(values);
                    return Arrays.stream(values).limit(work.rank()).map(w -> -w).toArray();
                });
        if (n > LARGE_DECOMPOSITION / 2) {
            return List.of(ojAlgo);
        }
        RealMatrix rows = new Array2DRowRealMatrix(n, n);
        for (int i = 0; i < n; i++) {
            rows.setRow(i, Arrays.copyOfRange(matrix, i * n, (i + 1) * n));
        }
        return List.of(
                ojAlgo,
                Variant.single(
                        COMMONS_MATH,
                        () -> new EigenDecomposition(rows),
                        () -> Arrays.copyOf(new EigenDecomposition(rows).getRealEigenvalues(), work.rank())));
    }

    private static R064Store store(int rows, int columns, double[] values) {
        R064Store store = R064Store.FACTORY.make(rows, columns);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                store.set(i, j, values[i * columns + j]);
            }
        }
        return store;
    }
}
