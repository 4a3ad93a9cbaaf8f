package io.plumbline.benchmarks.study;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.commons.math3.distribution.NormalDistribution;

/**
 * Activations whose features are known: the model of SynthSAEBench (Chanin and others, arXiv 2602.14687), made from its
 * definition.
 *
 * <p>A row is {@code b + sum_j z_j d_j} over features with random unit directions d_j. Feature j fires with a
 * probability that follows Zipf's law with exponent 0.5 from 0.4 down to 5e-4. Firings are correlated by a Gaussian
 * copula: j fires where {@code <f_j, eps> + sqrt(1 -
 * |f_j|^2) eta_j} is above the normal quantile, with f_j of 25 normal entries times 0.1. A child fires only with its
 * parent, and of the children of one parent at most one fires: 128 trees of four children a node and depth three.
 * Probabilities are raised beforehand by what these two rules are expected to take, up to 1. Magnitudes are normal with
 * means from 5 (frequent) to 4 (rare) and standard deviations
 * |N(0.5, 0.5)|, and at least 0. Smaller worlds have as many fewer trees.
 *
 * <p><b>What is ours.</b> The rows of a request share eps, so that they are alike as the tokens of a text are; over
 * requests, marginals and correlations are those of the definition. Directions are not made more orthogonal by gradient
 * descent, which takes the mean largest overlap from .16 to .15. The random numbers are Java's.
 *
 * <p>Immutable; a drift is another world.
 */
final class SyntheticWorld {

    static final int FEATURES = 16_384;
    static final int DIMENSION = 768;

    private static final int TREES = 128;
    private static final int CHILDREN = 4;
    private static final int DEPTH = 3;
    private static final double MOST = 0.4;
    private static final double LEAST = 5e-4;
    private static final int FACTORS = 25;
    private static final double CORRELATION = 0.1;
    private static final double CERTAIN = 1.0 - 1e-9;

    private final Feature[] features;
    private final double[] bias;
    private final double[] thresholds;
    private final float[] factors;
    private final double[] inverseRest;
    private final int[] roots;
    private final int[][] children;

    /**
     * @param direction of length 1
     * @param probability of firing
     * @param parent without which it does not fire, -1 for none
     * @param mean of its magnitude
     * @param deviation of its magnitude
     * @param factors what of eps it follows
     */
    record Feature(float[] direction, double probability, int parent, double mean, double deviation, float[] factors) {

        /** Returns another feature, outside all trees. */
        static Feature alone(Random random, int dimension, double probability, double mean) {
            return new Feature(
                    SyntheticWorld.direction(random, dimension),
                    probability,
                    -1,
                    mean,
                    deviation(random),
                    factors(random));
        }

        Feature firing(double often) {
            return new Feature(direction, often, parent, mean, deviation, factors);
        }

        Feature below(int other) {
            return new Feature(direction, probability, other, mean, deviation, factors);
        }

        Feature along(float[] other) {
            return new Feature(other, probability, parent, mean, deviation, factors);
        }

        private static double deviation(Random random) {
            return Math.abs(0.5 + 0.5 * random.nextGaussian());
        }

        private static float[] factors(Random random) {
            float[] factors = new float[FACTORS];
            for (int f = 0; f < FACTORS; f++) {
                factors[f] = (float) (CORRELATION * random.nextGaussian());
            }
            return factors;
        }
    }

    private SyntheticWorld(Feature[] features, double[] bias) {
        this.features = features;
        this.bias = bias;
        this.thresholds = new double[features.length];
        this.factors = new float[features.length * FACTORS];
        this.inverseRest = new double[features.length];
        NormalDistribution normal = new NormalDistribution(null, 0.0, 1.0);
        double[] raised = raised(features);
        for (int j = 0; j < features.length; j++) {
            thresholds[j] = normal.inverseCumulativeProbability(1.0 - Math.min(CERTAIN, raised[j]));
            double squares = 0.0;
            for (int f = 0; f < FACTORS; f++) {
                factors[j * FACTORS + f] = features[j].factors()[f];
                squares += factors[j * FACTORS + f] * factors[j * FACTORS + f];
            }
            inverseRest[j] = 1.0 / Math.sqrt(Math.max(0.01, 1.0 - squares));
        }
        this.roots = IntStream.range(0, features.length)
                .filter(j -> features[j].parent() < 0)
                .toArray();
        List<List<Integer>> below = new ArrayList<>();
        for (int j = 0; j < features.length; j++) {
            below.add(new ArrayList<>());
        }
        for (int j = 0; j < features.length; j++) {
            if (features[j].parent() >= 0) {
                below.get(features[j].parent()).add(j);
            }
        }
        this.children = below.stream()
                .map(list -> list.stream().mapToInt(Integer::intValue).toArray())
                .toArray(int[][]::new);
    }

    static SyntheticWorld of(int count, int dimension, long seed) {
        Random random = new Random(seed);
        Feature[] features = new Feature[count];
        int[] parents = parents(count);
        double rarest = 1.0 / Math.sqrt(count);
        for (int j = 0; j < count; j++) {
            double probability = LEAST + (MOST - LEAST) * (1.0 / Math.sqrt(j + 1.0) - rarest) / (1.0 - rarest);
            features[j] = Feature.alone(random, dimension, probability, 5.0 - (double) j / (count - 1))
                    .below(parents[j]);
        }
        float[] towards = direction(random, dimension);
        double[] bias = new double[dimension];
        for (int a = 0; a < dimension; a++) {
            bias[a] = towards[a];
        }
        return new SyntheticWorld(features, bias);
    }

    /** Returns each feature's parent: roots are the most frequent features; then level by level. */
    private static int[] parents(int count) {
        int[] parents = new int[count];
        Arrays.fill(parents, -1);
        int from = 0;
        int to = Math.max(2, (int) ((long) TREES * count / FEATURES));
        for (int depth = 0; depth < DEPTH; depth++) {
            int end = to;
            for (int parent = from; parent < to; parent++) {
                for (int child = 0; child < CHILDREN && end < count; child++) {
                    parents[end++] = parent;
                }
            }
            from = to;
            to = end;
        }
        return parents;
    }

    /**
     * Returns each feature's probability divided by the parent's, and times one more than the siblings expected beside
     * it.
     */
    private static double[] raised(Feature[] features) {
        double[] ofChildren = new double[features.length];
        for (Feature feature : features) {
            if (feature.parent() >= 0) {
                ofChildren[feature.parent()] += feature.probability();
            }
        }
        double[] raised = new double[features.length];
        for (int j = 0; j < raised.length; j++) {
            Feature feature = features[j];
            raised[j] = feature.probability();
            if (feature.parent() >= 0) {
                double parent = features[feature.parent()].probability();
                double siblings = ofChildren[feature.parent()] - feature.probability();
                raised[j] *= (1.0 + siblings / parent) / parent;
            }
        }
        return raised;
    }

    static float[] direction(Random random, int dimension) {
        float[] direction = new float[dimension];
        double squares = 0.0;
        for (int a = 0; a < dimension; a++) {
            direction[a] = (float) random.nextGaussian();
            squares += direction[a] * direction[a];
        }
        for (int a = 0; a < dimension; a++) {
            direction[a] /= (float) Math.sqrt(squares);
        }
        return direction;
    }

    /** A copy to change. */
    Feature[] features() {
        return features.clone();
    }

    SyntheticWorld with(Feature[] changed) {
        return new SyntheticWorld(changed, bias);
    }

    /** The true dictionary, whose encoder keeps the largest inner products. */
    Explainer explainer(int kept) {
        Matrix weights = Matrix.zeros(features.length, bias.length);
        double[] encoderBias = new double[features.length];
        for (int j = 0; j < features.length; j++) {
            for (int a = 0; a < bias.length; a++) {
                weights.set(j, a, features[j].direction()[a]);
                encoderBias[j] -= features[j].direction()[a] * bias[a];
            }
        }
        return new Explainer(
                "topk", TopKEncoder.of(weights, encoderBias, kept), new Decoder(weights, bias), Path.of("."));
    }

    /** A request of so many rows. */
    ActivationBatch request(int rows, SplittableRandom random) {
        double[] shared = new double[FACTORS];
        for (int f = 0; f < FACTORS; f++) {
            shared[f] = random.nextGaussian();
        }
        Matrix activations = Matrix.zeros(rows, bias.length);
        for (int row = 0; row < rows; row++) {
            System.arraycopy(bias, 0, activations.values(), row * bias.length, bias.length);
        }
        double[] known = new double[features.length];
        Arrays.fill(known, Double.NaN);
        for (int root : roots) {
            double logOfNot = Math.log(1.0 - Math.min(CERTAIN, probability(root, shared)));
            for (int row = waited(random, logOfNot); row < rows; row += 1 + waited(random, logOfNot)) {
                fire(root, random, shared, known, activations.values(), row * bias.length);
            }
        }
        return new ActivationBatch(activations, null, null);
    }

    /**
     * Adds a feature and, of its children that would fire, one, each with the same chance. Given eps, features fire
     * independently, so those below a feature that does not fire need not be drawn.
     */
    private void fire(
            int feature, SplittableRandom random, double[] shared, double[] known, double[] activations, int at) {
        int next = feature;
        while (next >= 0) {
            Feature firing = features[next];
            double magnitude = firing.mean() + firing.deviation() * random.nextGaussian();
            if (magnitude > 0.0) {
                add(magnitude, firing.direction(), activations, at);
            }
            int rivals = 0;
            int winner = -1;
            for (int child : children[next]) {
                if (Double.isNaN(known[child])) {
                    known[child] = probability(child, shared);
                }
                if (random.nextDouble() < known[child] && random.nextInt(++rivals) == 0) {
                    winner = child;
                }
            }
            next = winner;
        }
    }

    private static void add(double factor, float[] x, double[] y, int at) {
        for (int a = 0; a < x.length; a++) {
            y[at + a] += factor * x[a];
        }
    }

    private double probability(int j, double[] shared) {
        double projection = 0.0;
        int at = j * FACTORS;
        for (int f = 0; f < FACTORS; f++) {
            projection += factors[at + f] * shared[f];
        }
        return NormalTable.distribution((projection - thresholds[j]) * inverseRest[j]);
    }

    /** Returns the rows until the next firing, geometric; {@code logOfNot} is ln(1 - p). */
    private static int waited(SplittableRandom random, double logOfNot) {
        double rows = logOfNot < 0.0 ? Math.log(1.0 - random.nextDouble()) / logOfNot : Integer.MAX_VALUE;
        return (int) Math.min(rows, 1 << 20);
    }

    /** The normal distribution function, linear between steps of 1/512: to 1e-6. */
    private static final class NormalTable {

        private static final int END = 8;
        private static final int STEPS = 512;
        private static final double[] VALUES = new double[2 * END * STEPS + 1];

        static {
            NormalDistribution normal = new NormalDistribution(null, 0.0, 1.0);
            for (int i = 0; i < VALUES.length; i++) {
                VALUES[i] = normal.cumulativeProbability((double) i / STEPS - END);
            }
        }

        static double distribution(double x) {
            double at = (x + END) * STEPS;
            if (at <= 0.0) {
                return 0.0;
            }
            int below = (int) at;
            return below >= VALUES.length - 1
                    ? 1.0
                    : VALUES[below] + (at - below) * (VALUES[below + 1] - VALUES[below]);
        }
    }
}
