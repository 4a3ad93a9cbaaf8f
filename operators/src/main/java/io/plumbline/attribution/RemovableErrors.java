package io.plumbline.attribution;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.linalg.Kernels;
import io.plumbline.parallel.Cores;
import java.util.Arrays;
import java.util.List;

/**
 * The squared error a row that a least-squares refit of one column alone (and of the bias) would remove, for every
 * feature.
 *
 * <p>With codes z and errors e about their means, {@code |sum_i z_i e_i|^2 / (n sum_i z_i^2)}. Chance makes the sum
 * long where a feature is rarely active, so only products of rows of different groups of requests enter:
 * {@code sum_{g != h} <s_g, s_h> G / (G - 1)}, s_g the part of group g, which has no such share. The value may be
 * negative.
 *
 * <p>Still noisy where a feature is rare, the value is drawn towards what features do that are active in half of the
 * groups or more (empirical Bayes). Per squared activation written, their values have the median m and, about it and
 * beyond their own noise, the standard deviation s. A feature that writes A, with bootstrap variance v, is given
 * {@code (value s^2 A^2 + m A v) / (s^2 A^2 + v)}, and never more than its own standard deviation from its value (Efron
 * and Morris, Limiting the risk of Bayes and empirical Bayes estimators, JASA 67, 1972), so that a feature that fails
 * alone is not made to look like the others.
 *
 * <p><b>Cost.</b> {@code 2 n_j d + G^2 d} flops for a feature that is active in n_j rows of G groups, at most
 * {@value RequestGroups#MOST}, and 200 {@code G^2} for its samples. <b>Size.</b> 48 bytes a feature.
 *
 * @param estimate drawn in, as above; 0 where a feature is not active
 * @param low lower end of its one-sided 95 % interval
 * @param value not drawn in
 * @param noise bootstrap variance of the value
 * @param activeGroups groups in which the feature is active
 * @param variance of the code, {@code (1/n) sum z^2} about its mean
 * @param written {@code (1/n) sum z^2 |w|^2}
 * @param typical the median m, at least 0
 * @param spread {@code s^2}, at least 0
 */
record RemovableErrors(
        double[] estimate,
        double[] low,
        double[] value,
        double[] noise,
        int[] activeGroups,
        double[] variance,
        double[] written,
        double typical,
        double spread) {

    private static final double TAIL = 0.05;

    /** Features that one thread takes at a time. */
    private static final int PART = 64;

    static RemovableErrors of(CodesByFeature codes, Residuals residuals, long[] requests, double[] squaredNorms) {
        Work work = new Work(codes, residuals, RequestGroups.of(requests), squaredNorms);
        int features = squaredNorms.length;
        Cores.each((features + PART - 1) / PART, part -> {
            double[] sums = new double[work.groups.count() * residuals.mean().length];
            for (int j = part * PART; j < Math.min((part + 1) * PART, features); j++) {
                work.measure(j, sums);
            }
        });
        return work.drawnIn();
    }

    private static final class Work {

        private final CodesByFeature codes;
        private final Residuals residuals;
        private final RequestGroups groups;
        private final RequestGroups.Sample whole;
        private final List<RequestGroups.Sample> samples;
        private final double[] squaredNorms;
        private final int[] rowsOfGroup;
        private final double[] errorsOfGroup;

        private final double[] value;
        private final double[] noise;
        private final double[] low;
        private final double[] variance;
        private final double[] written;
        private final int[] activeGroups;

        Work(CodesByFeature codes, Residuals residuals, RequestGroups groups, double[] squaredNorms) {
            this.codes = codes;
            this.residuals = residuals;
            this.groups = groups;
            this.whole = groups.whole();
            this.samples = groups.samples();
            this.squaredNorms = squaredNorms;
            int d = residuals.mean().length;
            rowsOfGroup = new int[groups.count()];
            errorsOfGroup = new double[groups.count() * d];
            for (int i = 0; i < groups.ofRow().length; i++) {
                int group = groups.ofRow()[i];
                rowsOfGroup[group]++;
                for (int a = 0; a < d; a++) {
                    errorsOfGroup[group * d + a] +=
                            residuals.errors().get(i, a) - residuals.mean()[a];
                }
            }
            int features = squaredNorms.length;
            value = new double[features];
            noise = new double[features];
            low = new double[features];
            variance = new double[features];
            written = new double[features];
            activeGroups = new int[features];
        }

        /** @param sums room for a vector of each group */
        void measure(int j, double[] sums) {
            int from = codes.start()[j];
            int to = codes.start()[j + 1];
            int n = groups.ofRow().length;
            int count = groups.count();
            if (from == to || count < 2) {
                return;
            }
            double mean = 0.0;
            double squares = 0.0;
            double[] sumOfGroup = new double[count];
            double[] squaresOfGroup = new double[count];
            for (int entry = from; entry < to; entry++) {
                double z = codes.value()[entry];
                int group = groups.ofRow()[codes.row()[entry]];
                mean += z / n;
                squares += z * z;
                sumOfGroup[group] += z;
                squaresOfGroup[group] += z * z;
            }
            written[j] = squares * squaredNorms[j] / n;
            for (int g = 0; g < count; g++) {
                activeGroups[j] += squaresOfGroup[g] > 0.0 ? 1 : 0;
                squaresOfGroup[g] += mean * (mean * rowsOfGroup[g] - 2.0 * sumOfGroup[g]);
            }
            variance[j] = Arrays.stream(squaresOfGroup).sum() / n;
            if (variance[j] <= 0.0) {
                return;
            }
            double[] products = products(from, to, mean, sums);
            value[j] = value(whole, products, squaresOfGroup);
            double[] drawn = new double[samples.size()];
            double average = 0.0;
            for (int b = 0; b < drawn.length; b++) {
                // A sample pairs a group with itself once in G pairs, which are left out: G / (G - 1) once more.
                drawn[b] = value(samples.get(b), products, squaresOfGroup) * count / (count - 1);
                average += drawn[b] / drawn.length;
            }
            for (double one : drawn) {
                noise[j] += (one - average) * (one - average) / (drawn.length - 1);
            }
            Arrays.sort(drawn);
            low[j] = drawn[(int) (TAIL * drawn.length)];
        }

        /** Inner products of the groups' vectors, of each pair once. */
        private double[] products(int from, int to, double mean, double[] sums) {
            int d = residuals.mean().length;
            for (int at = 0; at < sums.length; at++) {
                sums[at] = -mean * errorsOfGroup[at];
            }
            for (int entry = from; entry < to; entry++) {
                int row = codes.row()[entry];
                int group = groups.ofRow()[row];
                double z = codes.value()[entry];
                Kernels.addScaled(z, residuals.errors().values(), row * d, sums, group * d, d);
                Kernels.addScaled(-z, residuals.mean(), 0, sums, group * d, d);
            }
            int count = groups.count();
            double[] products = new double[count * (count - 1) / 2];
            int pair = 0;
            for (int g = 0; g < count; g++) {
                for (int h = 0; h < g; h++) {
                    products[pair++] = Kernels.dot(sums, g * d, sums, h * d, d);
                }
            }
            return products;
        }

        private double value(RequestGroups.Sample sample, double[] products, double[] squaresOfGroup) {
            double sum = Kernels.dot(sample.pairs(), 0, products, 0, products.length);
            double squares = Kernels.dot(sample.groups(), 0, squaresOfGroup, 0, squaresOfGroup.length);
            int count = squaresOfGroup.length;
            return squares > 0.0 ? sum / squares / groups.ofRow().length * count / (count - 1) : 0.0;
        }

        RemovableErrors drawnIn() {
            double[] ratios = new double[value.length];
            double[] noises = new double[value.length];
            int known = 0;
            for (int j = 0; j < value.length; j++) {
                if (variance[j] > 0.0 && written[j] > 0.0 && 2 * activeGroups[j] >= groups.count()) {
                    ratios[known] = value[j] / written[j];
                    noises[known++] = noise[j] / (written[j] * written[j]);
                }
            }
            double typical = known == 0 ? 0.0 : Math.max(0.0, median(Arrays.copyOf(ratios, known)));
            double spread = 0.0;
            for (int i = 0; i < known; i++) {
                spread += ((ratios[i] - typical) * (ratios[i] - typical) - noises[i]) / known;
            }
            double[] estimate = new double[value.length];
            double[] lower = new double[value.length];
            for (int j = 0; j < value.length; j++) {
                double prior = typical * written[j];
                double weight = Math.max(0.0, spread) * written[j] * written[j];
                estimate[j] = drawnIn(value[j], prior, weight, noise[j]);
                lower[j] = drawnIn(Math.min(low[j], value[j]), prior, weight, noise[j]);
            }
            return new RemovableErrors(
                    estimate, lower, value, noise, activeGroups, variance, written, typical, Math.max(0.0, spread));
        }

        private static double median(double[] values) {
            Arrays.sort(values);
            return values[values.length / 2];
        }

        private static double drawnIn(double value, double prior, double weight, double noise) {
            if (weight + noise <= 0.0) {
                return 0.0;
            }
            double most = Math.sqrt(noise);
            double drawn = (value * weight + prior * noise) / (weight + noise);
            return Math.max(0.0, Math.min(value + most, Math.max(value - most, drawn)));
        }
    }
}
