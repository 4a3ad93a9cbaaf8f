package io.plumbline.benchmarks.operators;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.refit.Reconstruction;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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
 * Measures an assessment: all numbers that follow from a window's moment, and the FVU of a TopK 32 explainer with 4 d
 * features on 256 of its rows.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Xmx6g"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class AssessmentBenchmark {

    private static final int FEATURES_PER_DIMENSION = 4;

    /**
     * The dimension; {@code -p d=2048} takes a minute to set up by full decompositions, and 4096 some ten minutes: with
     * {@code -to 30m}.
     */
    @Param({"384", "768"})
    public int d;

    private SiteGeometry site;
    private SecondMoment window;
    private Matrix sampled;
    private Encoder encoder;
    private Decoder decoder;

    @Setup
    public void setUp() {
        Random random = new Random(3);
        Matrix weights = Matrix.zeros(FEATURES_PER_DIMENSION * d, d);
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = (float) (random.nextGaussian() / Math.sqrt(d)); // as files have them
        }
        decoder = new Decoder(weights, new double[d]);
        encoder = TopKEncoder.of(weights, new double[weights.rows()], 32);
        site = SiteGeometry.of(decoder, SecondMoment.of(Moments.rows(4096, d, 1)), null, Moments.rank(d));
        Matrix rows = Moments.rows(2048, d, 2);
        window = SecondMoment.of(rows);
        sampled = rows.rowRange(0, 256);
        for (int i = 0; i < sampled.values().length; i++) {
            sampled.values()[i] = (float) sampled.values()[i];
        }
        agree();
    }

    /** Requires the gaps of the twin that decomposes everything. */
    private void agree() {
        if (d > 768) {
            return;
        }
        GapAssessment fast = moment();
        GapAssessment full = site.assess(window, ActiveSubspace.topEigenspace(window, site.rank()));
        fast.statistics().forEach((name, value) -> {
            Double expected = full.statistics().get(name);
            boolean aBound = name.endsWith("_bound") || name.startsWith("davis_kahan");
            if (!aBound
                    && (expected == null || Math.abs(expected - value) > 1e-3 * Math.max(1.0, Math.abs(expected)))) {
                throw new IllegalStateException(name + " is " + value + ", of a full decomposition " + expected);
            }
        });
    }

    /** Measures the whole assessment. */
    @Benchmark
    public GapAssessment window() {
        return site.assess(window)
                .with(Statistic.RECONSTRUCTION_FVU_TRAINED, reconstruction().fvu());
    }

    /** Measures what follows from the moment. */
    @Benchmark
    public GapAssessment moment() {
        return site.assess(window);
    }

    /** Measures encoding and reconstructing. */
    @Benchmark
    public Reconstruction reconstruction() {
        SparseCodes codes = encoder.encode(sampled);
        return Reconstruction.of(decoder, codes, sampled);
    }
}
