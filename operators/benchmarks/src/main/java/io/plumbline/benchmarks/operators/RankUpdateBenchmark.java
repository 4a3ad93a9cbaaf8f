package io.plumbline.benchmarks.operators;

import io.plumbline.linalg.kernel.DoublePanel;
import io.plumbline.linalg.kernel.FloatPanel;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.commons.math3.linear.BlockRealMatrix;
import org.apache.commons.math3.linear.RealMatrix;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.ojalgo.matrix.store.R064Store;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures {@code X^T X} of 128 rows: {@code 128 d (d + 1)} useful flops, added to a moment where the variant has one.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Xmx2g"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class RankUpdateBenchmark {

    static final int ROWS = FloatPanel.ROWS;

    @Param({"768", "2048"})
    int d;

    private double[] rows;
    private float[] floatRows;
    private double[] state;
    private FloatPanel vectorFloats;
    private DoublePanel vectorDoubles;
    private FloatPanel plainFloats;
    private DMatrixRMaj ejml;
    private DMatrixRMaj ejmlProduct;
    private R064Store ojAlgo;
    private R064Store ojAlgoTransposed;
    private R064Store ojAlgoProduct;
    private RealMatrix commons;

    @Setup
    public void setUp() {
        rows = Rivals.integers(ROWS * d, 1);
        floatRows = Rivals.floats(rows);
        state = new double[d + d * (d + 1) / 2];
        vectorFloats = Rivals.kernel("vector").floats(d);
        vectorDoubles = Rivals.kernel("vector").doubles(d, ROWS);
        plainFloats = Rivals.kernel("plain").floats(d);
        ejml = DMatrixRMaj.wrap(ROWS, d, rows.clone());
        ejmlProduct = new DMatrixRMaj(d, d);
        ojAlgo = R064Store.FACTORY.make(ROWS, d);
        ojAlgoTransposed = R064Store.FACTORY.make(d, ROWS);
        commons = new BlockRealMatrix(ROWS, d);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < d; j++) {
                ojAlgo.set(i, j, rows[i * d + j]);
                ojAlgoTransposed.set(j, i, rows[i * d + j]);
                commons.setEntry(i, j, rows[i * d + j]);
            }
        }
        ojAlgoProduct = R064Store.FACTORY.make(d, d);
        agree();
    }

    /** Requires that every variant, from nothing, has the expected entry (d - 1, 1). */
    private void agree() {
        double expected = 0.0;
        for (int row = 0; row < ROWS; row++) {
            expected += rows[row * d + d - 1] * rows[row * d + 1];
        }
        int packed = d + (d - 1) * d / 2 + 1;
        Arrays.fill(state, 0.0);
        Rivals.require("plumblineFloat", expected, plumblineFloat()[packed]);
        Arrays.fill(state, 0.0);
        Rivals.require("plumblineDouble", expected, plumblineDouble()[packed]);
        Arrays.fill(state, 0.0);
        Rivals.require("plumblinePlain", expected, plumblinePlain()[packed]);
        Rivals.require("ejml", expected, ejml().get(d - 1, 1));
        Rivals.require("ojAlgo", expected, ojAlgo().doubleValue(d - 1, 1));
        Rivals.require("commonsMath", expected, commonsMath().getEntry(d - 1, 1));
    }

    /** Copies floats from an array into the panel and adds float products to float64 state. */
    @Benchmark
    public double[] plumblineFloat() {
        for (int row = 0; row < ROWS; row++) {
            vectorFloats.add(floatRows, row * d);
        }
        vectorFloats.drainTo(state);
        return state;
    }

    @Benchmark
    public double[] plumblineDouble() {
        for (int row = 0; row < ROWS; row++) {
            vectorDoubles.add(rows, row * d);
        }
        vectorDoubles.drainTo(state);
        return state;
    }

    /** Measures the kernel that runs without the vector module. */
    @Benchmark
    public double[] plumblinePlain() {
        for (int row = 0; row < ROWS; row++) {
            plainFloats.add(floatRows, row * d);
        }
        plainFloats.drainTo(state);
        return state;
    }

    @Benchmark
    public DMatrixRMaj ejml() {
        CommonOps_DDRM.multInner(ejml, ejmlProduct);
        return ejmlProduct;
    }

    @Benchmark
    public R064Store ojAlgo() {
        ojAlgoProduct.fillByMultiplying(ojAlgoTransposed, ojAlgo);
        return ojAlgoProduct;
    }

    @Benchmark
    public RealMatrix commonsMath() {
        return commons.transpose().multiply(commons);
    }
}
