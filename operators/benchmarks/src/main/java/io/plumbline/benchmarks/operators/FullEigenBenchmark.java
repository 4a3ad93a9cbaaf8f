package io.plumbline.benchmarks.operators;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.linalg.eigenspace.TopEigenspace;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.EigenDecomposition;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;
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
 * Measures the rivals of {@link EigenspaceBenchmark} on the same moment: all eigenpairs, since none of them computes
 * less.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Xmx4g"})
@Warmup(iterations = 3)
@Measurement(iterations = 3)
public class FullEigenBenchmark {

    /** The dimension; at 768 Commons Math takes 4 s a time: {@code -p d=768}. */
    @Param("384")
    public int d;

    private Matrix moment;

    @Setup
    public void setUp() {
        moment = Moments.of(d, 1);
        int rank = Moments.rank(d);
        double[] top = TopEigenspace.of(moment, rank, null, 1e-6).orElseThrow().values();
        double[] ejml = new double[d];
        EigenDecomposition_F64<DMatrixRMaj> decomposition = ejml();
        for (int i = 0; i < d; i++) {
            ejml[i] = -decomposition.getEigenvalue(i).getReal();
        }
        Arrays.sort(ejml);
        double[] ojAlgo = ojAlgo().values();
        double[] commons = commonsMath().getRealEigenvalues();
        for (int i = 0; i < rank; i++) {
            requireClose("ojAlgo", ojAlgo[i], top[i]);
            requireClose("ejml", -ejml[i], top[i]);
            requireClose("commonsMath", commons[i], top[i]);
        }
    }

    static void requireClose(String variant, double expected, double found) {
        if (!(Math.abs(expected - found) <= 1e-6 * Math.abs(expected))) {
            throw new IllegalStateException("%s: eigenvalue %s beside %s".formatted(variant, expected, found));
        }
    }

    @Benchmark
    public SymmetricEigen ojAlgo() {
        return SymmetricEigen.of(moment);
    }

    @Benchmark
    public EigenDecomposition_F64<DMatrixRMaj> ejml() {
        EigenDecomposition_F64<DMatrixRMaj> decomposition = DecompositionFactory_DDRM.eig(d, true, true);
        if (!decomposition.decompose(DMatrixRMaj.wrap(d, d, moment.values().clone()))) {
            throw new IllegalStateException("EJML did not converge");
        }
        return decomposition;
    }

    @Benchmark
    public EigenDecomposition commonsMath() {
        Array2DRowRealMatrix matrix = new Array2DRowRealMatrix(d, d);
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++) {
                matrix.setEntry(i, j, moment.get(i, j));
            }
        }
        return new EigenDecomposition(matrix);
    }
}
