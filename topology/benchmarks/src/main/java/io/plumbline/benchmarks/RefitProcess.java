package io.plumbline.benchmarks;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.benchmarks.BenchSite.Size;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Weights;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * An adapter that does nothing but refit, over and over, as a process of its own beside the monitor: more than any
 * adapter does.
 *
 * @param size of the explainer, which has random weights
 * @param rows of a sample
 * @param heap of its process
 */
record RefitProcess(Size size, int rows, String heap) {

    private static final int TOP_K = 32;
    private static final int ROWS_A_REQUEST = 32;
    private static final double OFFSET = 0.3;
    private static final double SHARE = 0.25;

    /** Returns once the first refit is done, and what does not depend on a window with it. */
    ChildProcess start(Path folder) throws IOException {
        return ChildProcess.start(
                RefitProcess.class,
                heap,
                folder.resolve("refits-%d.log".formatted(size.d())),
                IntStream.of(size.d(), size.features(), size.rank(), rows)
                        .mapToObj(Integer::toString)
                        .toList());
    }

    /** Runs the other process. */
    public static void main(String[] sizes) throws IOException {
        int[] n = Arrays.stream(sizes).mapToInt(Integer::parseInt).toArray();
        Runnable refit = new RefitProcess(new Size(n[0], n[1], n[2]), n[3], "").refit();
        refit.run();
        ChildProcess.up("");
        Thread again = new Thread(() -> repeat(refit), "refits");
        again.setDaemon(true);
        again.start();
        ChildProcess.awaitTheEnd();
        Runtime.getRuntime().halt(0);
    }

    private static void repeat(Runnable refit) {
        while (!Thread.currentThread().isInterrupted()) {
            refit.run();
        }
    }

    private Runnable refit() {
        int d = size.d();
        int rank = size.rank();
        Weights weights = BenchSite.randomWeights(size);
        Decoder trained = new Decoder(weights, new double[d]);
        Encoder encoder = TopKEncoder.of(weights.toMatrix(), new double[size.features()], TOP_K);
        ExplainerSubspace subspace = ExplainerSubspace.of(trained, rank);
        BaselineRows baseline = BaselineRows.of(encoder, sample(2, 0.0), d);
        List<SampledRow> drifted = sample(3, OFFSET);
        GaeSettings settings = new GaeSettings(rank, Rotation.PRINTED, Regularisation.relative(2.0, 1.0), 0.0);
        return () -> {
            AdaptationRows split = AdaptationRows.of(encoder, SampleSplit.of(drifted, SHARE), baseline, d);
            var unused = GatedAdaptation.of(
                    new AdaptationProfile.Paper(settings),
                    new SwapGate(GateLimits.DEFAULTS),
                    SiteDecoders.servingTrained(trained, subspace, rank),
                    split,
                    DType.F32);
        };
    }

    private List<SampledRow> sample(long seed, double offset) {
        RowSample sample = RowSample.ofCapacity(rows);
        SplittableRandom random = new SplittableRandom(seed);
        for (int row = 0; row < rows; row++) {
            float[] values = new float[size.d()];
            for (int j = 0; j < values.length; j++) {
                values[j] = (float) (random.nextGaussian() + offset * (1 + j % 3));
            }
            sample.offer(row, row / ROWS_A_REQUEST, row / ROWS_A_REQUEST, values, null);
        }
        return sample.rows();
    }
}
