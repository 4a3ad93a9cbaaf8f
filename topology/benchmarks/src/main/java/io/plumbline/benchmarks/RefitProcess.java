package io.plumbline.benchmarks;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/**
 * An adapter that does nothing but refit, over and over, as a process of its own beside the monitor: more than any
 * adapter does.
 *
 * @param d width of the rows
 * @param features of the explainer, with random weights
 * @param rank of the active subspace
 * @param rows of a sample
 * @param heap of its process
 */
record RefitProcess(int d, int features, int rank, int rows, String heap) {

    private static final int TOP_K = 32;
    private static final int ROWS_A_REQUEST = 32;
    private static final double OFFSET = 0.3;
    private static final double SHARE = 0.25;

    /** The process for the dictionary published for GPT-2 small, as the next is for that of Pythia-1.4B. */
    static final RefitProcess GPT2 = new RefitProcess(768, 24_576, 32, 2_048, "3g");

    static final RefitProcess PYTHIA = new RefitProcess(2_048, 65_536, 64, 2_048, "12g");

    /** Returns whether it runs at all. */
    static RefitProcess small(int d) {
        return new RefitProcess(d, 4 * d, Math.min(4, d), 512, "1g");
    }

    String title() {
        return "refits of %,d x %,d beside".formatted(d, features);
    }

    /** Returns once the first refit is done, and what does not depend on a window with it. */
    ChildProcess start(Path log) throws IOException {
        List<String> sizes = List.of(
                Integer.toString(d), Integer.toString(features), Integer.toString(rank), Integer.toString(rows));
        return ChildProcess.start(RefitProcess.class, heap, log, sizes);
    }

    /** Runs the other process. */
    public static void main(String[] sizes) throws IOException {
        RefitProcess work = new RefitProcess(
                Integer.parseInt(sizes[0]),
                Integer.parseInt(sizes[1]),
                Integer.parseInt(sizes[2]),
                Integer.parseInt(sizes[3]),
                "");
        Runnable refit = work.refit();
        refit.run();
        ChildProcess.up(work.title());
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
        Matrix weights = Matrix.zeros(features, d);
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = (float) (random.nextDouble(-1.0, 1.0) * Math.sqrt(3.0 / d));
        }
        Decoder trained = new Decoder(weights, new double[d]);
        Encoder encoder = TopKEncoder.of(weights, new double[features], TOP_K);
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
            float[] values = new float[d];
            for (int j = 0; j < d; j++) {
                values[j] = (float) (random.nextGaussian() + offset * (1 + j % 3));
            }
            sample.offer(row, row / ROWS_A_REQUEST, row / ROWS_A_REQUEST, values, null);
        }
        return sample.rows();
    }
}
