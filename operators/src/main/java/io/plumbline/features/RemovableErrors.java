package io.plumbline.features;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.parallel.Cores;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

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
 * <p><b>Cost.</b> {@code 2 n_j d + a^2 d} flops for a feature that is active in n_j rows of a groups, at most
 * {@value RequestGroups#MOST}, and 200 {@code G^2} for its samples; once {@code 2 n G d} ({@link GroupProducts}).
 * <b>Size.</b> 48 bytes a feature.
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
        RequestGroups groups = RequestGroups.of(requests);
        int features = squaredNorms.length;
        if (groups.count() < 2) {
            return unknown(features);
        }
        Work work = new Work(codes, residuals, groups, squaredNorms);
        Cores.each(
                (features + PART - 1) / PART, part -> work.measure(part * PART, Math.min((part + 1) * PART, features)));
        return work.drawnIn();
    }

    /** Returns unknown errors, since one group has nothing to be multiplied with. */
    private static RemovableErrors unknown(int features) {
        double[] zeros = new double[features];
        return new RemovableErrors(zeros, zeros, zeros, zeros, new int[features], zeros, zeros, 0.0, 0.0);
    }

    private static final class Work {

        private final CodesByFeature codes;
        private final GroupProducts products;
        private final RequestGroups groups;
        private final double[] squaredNorms;
        private final int[] rowsOfGroup;
        /** Weights of the sums of pairs and squares of groups: every group once, then each sample. */
        private final PackedMatrix pairs;

        private final PackedMatrix singles;
        private final int samples;

        private final double[] value;
        private final double[] noise;
        private final double[] low;
        private final double[] variance;
        private final double[] written;
        private final int[] activeGroups;

        Work(CodesByFeature codes, Residuals residuals, RequestGroups groups, double[] squaredNorms) {
            this.codes = codes;
            this.groups = groups;
            this.squaredNorms = squaredNorms;
            this.products = new GroupProducts(codes, residuals, groups);
            rowsOfGroup = new int[groups.count()];
            for (int group : groups.ofRow()) {
                rowsOfGroup[group]++;
            }
            int features = squaredNorms.length;
            List<RequestGroups.Sample> all = new ArrayList<>();
            all.add(groups.whole());
            all.addAll(groups.samples());
            samples = all.size() - 1;
            pairs = factor(all, RequestGroups.Sample::pairs, features);
            singles = factor(all, RequestGroups.Sample::groups, features);
            value = new double[features];
            noise = new double[features];
            low = new double[features];
            variance = new double[features];
            written = new double[features];
            activeGroups = new int[features];
        }

        /** Returns the samples' weights, one column each. */
        private static PackedMatrix factor(
                List<RequestGroups.Sample> samples, Function<RequestGroups.Sample, double[]> weights, int features) {
            int length = weights.apply(samples.get(0)).length;
            Matrix rows = Matrix.zeros(samples.size(), length);
            for (int b = 0; b < samples.size(); b++) {
                System.arraycopy(weights.apply(samples.get(b)), 0, rows.values(), b * length, length);
            }
            return Kernels.pack(rows.transposedView(), features);
        }

        /** Measures features {@code first .. end-1}; the sums of their samples are products of small matrices. */
        void measure(int first, int end) {
            int count = groups.count();
            int[] varying = new int[end - first];
            Matrix products = Matrix.zeros(end - first, pairs.rows());
            Matrix squares = Matrix.zeros(end - first, count);
            GroupProducts.Room room = this.products.room();
            int found = 0;
            for (int j = first; j < end; j++) {
                double mean = varies(j, squares.values(), found * count);
                if (variance[j] > 0.0) {
                    this.products.of(j, mean, room, products.values(), found * pairs.rows());
                    varying[found++] = j;
                }
            }
            int width = samples + 1;
            double[] sums = new double[found * width];
            double[] sumsOfSquares = new double[found * width];
            pairs.addProduct(products.rowsView(0, found), sums);
            singles.addProduct(squares.rowsView(0, found), sumsOfSquares);
            double[] drawn = new double[samples];
            for (int at = 0; at < found; at++) {
                int j = varying[at];
                value[j] = value(sums[at * width], sumsOfSquares[at * width]);
                for (int b = 0; b < samples; b++) {
                    int sample = at * width + 1 + b;
                    // A sample pairs a group with itself once in G pairs, which are left out: G / (G - 1) once more.
                    drawn[b] = value(sums[sample], sumsOfSquares[sample]) * count / (count - 1);
                }
                spread(j, drawn);
            }
        }

        /** Fills in how a feature's code varies, the squares of its groups too, and returns the code's mean. */
        private double varies(int j, double[] squares, int offset) {
            int n = groups.ofRow().length;
            int count = groups.count();
            double mean = 0.0;
            double sumOfSquares = 0.0;
            double[] sumOfGroup = new double[count];
            Arrays.fill(squares, offset, offset + count, 0.0);
            for (int entry = codes.start()[j]; entry < codes.start()[j + 1]; entry++) {
                double z = codes.value()[entry];
                int group = groups.ofRow()[codes.row()[entry]];
                mean += z / n;
                sumOfSquares += z * z;
                sumOfGroup[group] += z;
                squares[offset + group] += z * z;
            }
            written[j] = sumOfSquares * squaredNorms[j] / n;
            double centred = 0.0;
            for (int g = 0; g < count; g++) {
                activeGroups[j] += squares[offset + g] > 0.0 ? 1 : 0;
                squares[offset + g] += mean * (mean * rowsOfGroup[g] - 2.0 * sumOfGroup[g]);
                centred += squares[offset + g];
            }
            variance[j] = Math.max(0.0, centred / n);
            return mean;
        }

        private double value(double sum, double squares) {
            int count = groups.count();
            return squares > 0.0 ? sum / squares / groups.ofRow().length * count / (count - 1) : 0.0;
        }

        private void spread(int j, double[] drawn) {
            double average = 0.0;
            for (double one : drawn) {
                average += one / drawn.length;
            }
            for (double one : drawn) {
                noise[j] += (one - average) * (one - average) / (drawn.length - 1);
            }
            low[j] = smallest(drawn, (int) (TAIL * drawn.length));
        }

        /** Returns the value that as many are smaller than, without sorting the others. */
        private static double smallest(double[] values, int smaller) {
            double[] lowest = new double[smaller + 1];
            Arrays.fill(lowest, Double.POSITIVE_INFINITY);
            for (double value : values) {
                if (value < lowest[smaller]) {
                    int at = smaller;
                    while (at > 0 && lowest[at - 1] > value) {
                        lowest[at] = lowest[at - 1];
                        at--;
                    }
                    lowest[at] = value;
                }
            }
            return lowest[smaller];
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
