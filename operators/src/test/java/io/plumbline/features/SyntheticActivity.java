package io.plumbline.features;

import io.plumbline.explainer.SparseCodes;
import java.util.Random;

/**
 * Draws features with known rates: feature j is active in a share {@code p_j} of the rows, and in a request with a
 * share drawn from a beta distribution, so that two of its rows correlate by {@code rho}.
 */
final class SyntheticActivity {

    private final double[] rates;
    private final double correlation;

    SyntheticActivity(double[] rates, double correlation) {
        this.rates = rates;
        this.correlation = correlation;
    }

    /** Returns rates from {@code low} to {@code high}, evenly on a logarithmic scale. */
    static double[] rates(int features, double low, double high) {
        double[] rates = new double[features];
        for (int j = 0; j < features; j++) {
            rates[j] = low * Math.pow(high / low, j / (features - 1.0));
        }
        return rates;
    }

    SyntheticActivity with(double[] others) {
        return new SyntheticActivity(others, correlation);
    }

    FeatureActivity draw(int requests, int rowsPerRequest, long seed) {
        Random random = new Random(seed);
        FeatureActivityAccumulator activity = FeatureActivityAccumulator.of(rates.length);
        boolean[][] active = new boolean[rowsPerRequest][rates.length];
        double strength = correlation == 0.0 ? 0.0 : 1.0 / correlation - 1.0;
        for (int g = 0; g < requests; g++) {
            for (int j = 0; j < rates.length; j++) {
                double p =
                        correlation == 0.0 ? rates[j] : drawn(random, rates[j] * strength, (1.0 - rates[j]) * strength);
                for (int i = 0; i < rowsPerRequest; i++) {
                    active[i][j] = random.nextDouble() < p;
                }
            }
            activity.addRows(codes(active)).endRequest();
        }
        return activity.snapshot();
    }

    static SparseCodes codes(boolean[][] active) {
        int entries = 0;
        for (boolean[] row : active) {
            for (boolean one : row) {
                entries += one ? 1 : 0;
            }
        }
        int[] rowStart = new int[active.length + 1];
        int[] feature = new int[entries];
        double[] value = new double[entries];
        int at = 0;
        for (int i = 0; i < active.length; i++) {
            for (int j = 0; j < active[i].length; j++) {
                if (active[i][j]) {
                    feature[at] = j;
                    value[at++] = 2.0;
                }
            }
            rowStart[i + 1] = at;
        }
        return new SparseCodes(active.length, active[0].length, rowStart, feature, value);
    }

    /** Draws a beta variate as {@code X / (X + Y)} of gamma variates. */
    private static double drawn(Random random, double a, double b) {
        double x = gamma(random, a);
        double y = gamma(random, b);
        return x + y == 0.0 ? 0.0 : x / (x + y);
    }

    /** Draws a gamma variate after Marsaglia and Tsang (2000); below 1 by a power of a uniform variate. */
    private static double gamma(Random random, double shape) {
        if (shape < 1.0) {
            return gamma(random, shape + 1.0) * Math.pow(random.nextDouble(), 1.0 / shape);
        }
        double d = shape - 1.0 / 3.0;
        double c = 1.0 / Math.sqrt(9.0 * d);
        while (true) {
            double x = random.nextGaussian();
            double v = Math.pow(1.0 + c * x, 3);
            if (v > 0.0 && Math.log(1.0 - random.nextDouble()) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
                return d * v;
            }
        }
    }
}
