package io.plumbline.benchmarks.operators;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.PackedMatrix;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the product of an encoder, 256 rows of 768 into 6,144 features, in float64: {@code 2 * 256 * 768 * 6144}
 * flops.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Xmx2g"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class EncoderProductBenchmark {

    static final int ROWS = 256;
    static final int INPUTS = 768;
    static final int FEATURES = 6144;

    private DMatrixRMaj ejmlRows;
    private DMatrixRMaj ejmlWeights;
    private DMatrixRMaj ejmlCodes;
    private Matrix rows;
    private double[] weights;
    private double[] codes;
    private PackedMatrix factor;
    private PackedMatrix plain;
    private TopKEncoder encoder;

    @Setup
    public void setUp() {
        rows = new Matrix(ROWS, INPUTS, Rivals.integers(ROWS * INPUTS, 2));
        weights = Rivals.integers(INPUTS * FEATURES, 3);
        Matrix inputByFeature = new Matrix(INPUTS, FEATURES, weights);
        codes = new double[ROWS * FEATURES];
        factor = Rivals.kernel("vector").pack(inputByFeature.view());
        plain = Rivals.kernel("plain").pack(inputByFeature.view());
        encoder = TopKEncoder.of(inputByFeature.transpose(), new double[FEATURES], 32);
        double expected = 0.0;
        for (int h = 0; h < INPUTS; h++) {
            expected += rows.get(ROWS - 1, h) * inputByFeature.get(h, FEATURES - 1);
        }
        int last = ROWS * FEATURES - 1;
        ejmlRows = DMatrixRMaj.wrap(ROWS, INPUTS, rows.values());
        ejmlWeights = DMatrixRMaj.wrap(INPUTS, FEATURES, weights);
        ejmlCodes = DMatrixRMaj.wrap(ROWS, FEATURES, new double[ROWS * FEATURES]);
        Rivals.require("ejml", expected, ejml().get(last));
        Rivals.require("plumbline", expected, plumbline()[last]);
        Arrays.fill(codes, 0.0);
        Rivals.require("plumblinePlain", expected, plumblinePlain()[last]);
    }

    @Benchmark
    public double[] plumbline() {
        factor.addProduct(rows.view(), codes);
        return codes;
    }

    @Benchmark
    public double[] plumblinePlain() {
        plain.addProduct(rows.view(), codes);
        return codes;
    }

    /** Encodes with bias and TopK of 32, and returns the codes as a sparse matrix. */
    @Benchmark
    public SparseCodes plumblineWithTopK() {
        return encoder.encode(rows);
    }

    @Benchmark
    public DMatrixRMaj ejml() {
        CommonOps_DDRM.mult(ejmlRows, ejmlWeights, ejmlCodes);
        return ejmlCodes;
    }
}
