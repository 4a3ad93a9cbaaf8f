package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Adaptations of a small made-up decoder, from the encoder to the gate, so that what a real one runs is compiled before the first
 * drift. Nothing comes of them.
 *
 * <p>Wide enough that leading directions are found as they are for large decoders.
 */
public final class AdaptationWarmUp {

    /** What a start may take of it: on a busy machine less is done than enough. */
    public static final Duration LONGEST = Duration.ofSeconds(20);

    private static final int DIMENSION = 320;
    private static final int FEATURES = 1024;
    private static final int ROWS = 768;
    private static final int REQUEST = 16;
    private static final int TOP_K = 16;
    private static final int RANK = 8;

    /** After 53 rounds the first real adaptation took 1.1 times the CPU time of later ones, after 1 or 2 rounds 1.6 times and more. */
    private static final int ENOUGH = 50;

    private final Decoder trained;
    private final Encoder encoder;
    private final ExplainerSubspace subspace;
    private final Matrix drifted;
    private final BaselineRows baseline;

    AdaptationWarmUp() {
        SplittableRandom random = new SplittableRandom(1);
        Matrix weights = Matrix.zeros(FEATURES, DIMENSION);
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = (float) random.nextDouble(-0.1, 0.1);
        }
        trained = new Decoder(weights, new double[DIMENSION]);
        encoder = TopKEncoder.of(weights, new double[FEATURES], TOP_K);
        subspace = ExplainerSubspace.of(trained, RANK);
        drifted = mixtures(random, 0.6);
        SampleRows clean = rows(mixtures(random, 0.0));
        baseline = new BaselineRows(part(clean, 0, ROWS / 2), part(clean, ROWS / 2, ROWS));
    }

    /** Adapts often enough, or until the time is over, at least once; the last round is finished. Returns how often. */
    public static int run(Duration longest) {
        long begin = System.nanoTime();
        AdaptationWarmUp warmUp = new AdaptationWarmUp();
        int rounds = 0;
        do {
            var unusedSearch = warmUp.search();
            var unusedRefit = warmUp.refit();
            rounds++;
        } while (rounds < ENOUGH && System.nanoTime() - begin < longest.toNanos());
        return rounds;
    }

    /** Every candidate, and the best as weights. */
    GatedAdaptation search() {
        return adapt(new AdaptationProfile.Auto(), Travelling.dense(DType.F32));
    }

    /** A single one, below full rank, as factors. */
    GatedAdaptation refit() {
        GaeSettings settings = new GaeSettings(RANK, Rotation.PRINTED, Regularisation.relative(2.0, 1.0), 0.0);
        return adapt(new AdaptationProfile.Paper(settings), Travelling.factors());
    }

    private GatedAdaptation adapt(AdaptationProfile profile, Travelling travelling) {
        SampleRows all = rows(drifted);
        AdaptationRows rows = new AdaptationRows(
                part(all, 0, ROWS / 2),
                part(all, ROWS / 2, 3 * ROWS / 4),
                part(all, 0, 3 * ROWS / 4),
                part(all, 3 * ROWS / 4, ROWS),
                all,
                baseline.anchor(),
                baseline.check());
        SwapGate gate = new SwapGate(GateLimits.DEFAULTS);
        return GatedAdaptation.of(profile, gate, trained, subspace, ServingDecoder.of(trained), rows, RANK, travelling);
    }

    /** Of features, the first ones more often, whose directions moved. */
    private Matrix mixtures(SplittableRandom random, double moved) {
        Matrix rows = Matrix.zeros(ROWS, DIMENSION);
        for (int i = 0; i < ROWS; i++) {
            for (int active = 0; active < TOP_K; active++) {
                int feature = (int) (FEATURES * Math.pow(random.nextDouble(), 4));
                double code = 1.0 + random.nextDouble();
                for (int j = 0; j < DIMENSION; j++) {
                    double weight = trained.weights().get(feature, j)
                            + moved * trained.weights().get(feature, (j + 1) % DIMENSION);
                    rows.set(i, j, (float) (rows.get(i, j) + code * weight));
                }
            }
        }
        return rows;
    }

    private SampleRows rows(Matrix activations) {
        long[] requests =
                IntStream.range(0, ROWS).mapToLong(row -> row / REQUEST).toArray();
        return new SampleRows(encoder.encode(activations), activations, requests);
    }

    private static SampleRows part(SampleRows rows, int from, int to) {
        return rows.select(IntStream.range(from, to).toArray());
    }
}
