package io.plumbline.features;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;

/**
 * Holds the inner products {@code <s_g, s_h>} of what groups of rows add to a feature's
 * {@code sum_i (z_i - m) (e_i - mean e)}, m being the feature's mean code.
 *
 * <p>A group in which the feature is not active adds {@code -m E_g}, E_g the sum of the group's errors about their
 * mean, which is the same for all features: products with it come from {@code <e_i, E_h>}, made once. A dictionary's
 * features are active in few rows: all pairs of groups, feature after feature, took thirty times as long.
 *
 * <p><b>Cost.</b> Once {@code 2 n G d + G^2 d} flops; {@code 2 n_j d + a^2 d} for a feature that is active in n_j rows
 * of a groups. <b>Size.</b> {@code 8 G (n + d)} bytes. Any number of threads, each with a room of its own.
 */
final class GroupProducts {

    /** Active groups from which on a product of matrices is the faster way. */
    private static final int MANY = 8;

    private final CodesByFeature codes;
    private final Residuals residuals;
    private final RequestGroups groups;
    /** Sums E, G x d. */
    private final Matrix sums;

    /** The matrix {@code E E^T}, G x G. */
    private final Matrix products;

    /** The products {@code <e_i - mean e, E_h>}, n x G. */
    private final Matrix ofRows;

    GroupProducts(CodesByFeature codes, Residuals residuals, RequestGroups groups) {
        this.codes = codes;
        this.residuals = residuals;
        this.groups = groups;
        int d = residuals.mean().length;
        int count = groups.count();
        this.sums = Matrix.zeros(count, d);
        for (int i = 0; i < groups.ofRow().length; i++) {
            int to = groups.ofRow()[i] * d;
            Kernels.addScaled(1.0, residuals.errors().values(), i * d, sums.values(), to, d);
            Kernels.addScaled(-1.0, residuals.mean(), 0, sums.values(), to, d);
        }
        this.products = Kernels.multiplyTranspose(sums, sums);
        this.ofRows = Kernels.multiplyTranspose(residuals.errors(), sums);
        for (int h = 0; h < count; h++) {
            double ofMean = Kernels.dot(residuals.mean(), 0, sums.values(), h * d, d);
            for (int i = 0; i < ofRows.rows(); i++) {
                ofRows.values()[i * count + h] -= ofMean;
            }
        }
    }

    /** Memory that the products of one feature after another are written into. */
    static final class Room {
        /** Number of a group's vector, -1 where the feature is not active in the group. */
        private final int[] place;

        /** Sums of the codes of each group. */
        private final double[] codes;

        /** Vectors s_g of the groups in which it is active, a x d. */
        private final double[] vectors;

        /** The products {@code <s_g, E_h>} of these, a x G. */
        private final double[] withSums;

        private Room(int groups, int d) {
            place = new int[groups];
            codes = new double[groups];
            vectors = new double[groups * d];
            withSums = new double[groups * groups];
        }
    }

    Room room() {
        return new Room(groups.count(), residuals.mean().length);
    }

    /** Writes the products of a feature for (1, 0), (2, 0), (2, 1), (3, 0) and so on. */
    void of(int feature, double mean, Room room, double[] target, int offset) {
        int active = collect(feature, mean, room);
        int count = groups.count();
        double[] among = among(room.vectors, active);
        int pair = offset;
        for (int g = 0; g < count; g++) {
            for (int h = 0; h < g; h++) {
                int a = room.place[g];
                int b = room.place[h];
                double product;
                if (a >= 0 && b >= 0) {
                    product = among[a * active + b];
                } else if (a >= 0) {
                    product = -mean * room.withSums[a * count + h];
                } else if (b >= 0) {
                    product = -mean * room.withSums[b * count + g];
                } else {
                    product = mean * mean * products.get(g, h);
                }
                target[pair++] = product;
            }
        }
    }

    /** Sums up the vectors of the groups in which a feature is active, and returns how many these are. */
    private int collect(int feature, double mean, Room room) {
        int d = residuals.mean().length;
        int count = groups.count();
        Arrays.fill(room.place, -1);
        Arrays.fill(room.codes, 0.0);
        int active = 0;
        for (int entry = codes.start()[feature]; entry < codes.start()[feature + 1]; entry++) {
            int row = codes.row()[entry];
            int group = groups.ofRow()[row];
            double z = codes.value()[entry];
            int at = room.place[group];
            if (at < 0) {
                at = active++;
                room.place[group] = at;
                for (int a = 0; a < d; a++) {
                    room.vectors[at * d + a] = -mean * sums.values()[group * d + a];
                }
                for (int h = 0; h < count; h++) {
                    room.withSums[at * count + h] = -mean * products.get(group, h);
                }
            }
            Kernels.addScaled(z, residuals.errors().values(), row * d, room.vectors, at * d, d);
            room.codes[group] += z;
            Kernels.addScaled(z, ofRows.values(), row * count, room.withSums, at * count, count);
        }
        for (int group = 0; group < count; group++) {
            if (room.place[group] >= 0) {
                Kernels.addScaled(-room.codes[group], residuals.mean(), 0, room.vectors, room.place[group] * d, d);
            }
        }
        return active;
    }

    /** Returns the inner products of the first vectors, a x a; what is above the diagonal is there too. */
    private double[] among(double[] vectors, int active) {
        int d = residuals.mean().length;
        if (active >= MANY) {
            Matrix rows = new Matrix(active, d, Arrays.copyOf(vectors, active * d));
            return Kernels.multiplyTranspose(rows, rows).values();
        }
        double[] among = new double[active * active];
        for (int a = 0; a < active; a++) {
            for (int b = 0; b < a; b++) {
                double product = Kernels.dot(vectors, a * d, vectors, b * d, d);
                among[a * active + b] = product;
                among[b * active + a] = product;
            }
        }
        return among;
    }
}
