package io.plumbline.groups;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.List;

/**
 * Groups of a baseline's own unusual requests, to tell a known kind that became more frequent from a new one.
 *
 * <p>A group is known where the mean cosine between its members and those of one of these is at least
 * {@link TrafficGroup#LEAST_COSINE}: linkage would have made one group of both. The mean cosine is the inner product
 * of the means of their unit vectors, so these means are all that is kept. A single unusual request of the baseline is
 * a group of one here.
 *
 * <p><b>Size.</b> {@code 8 p} bytes a group. Immutable.
 *
 * @param means g x p, the mean unit vector of each group, of length above 0 and at most 1
 * @param shares of each group among the baseline's requests, in (0, 1]
 */
public record KnownGroups(Matrix means, double[] shares) {

    /** The longest mean of unit vectors, with what rounding adds. */
    private static final double LONGEST = 1.0 + 1e-9;

    /**
     * Takes groups as a file has them.
     *
     * @throws IllegalArgumentException if they cannot be groups
     */
    public KnownGroups {
        if (means.rows() != shares.length || means.rows() > UnusualRequests.DEFAULT_CAPACITY) {
            throw new IllegalArgumentException("%d means and %d shares of groups: expected as many, at most %d"
                    .formatted(means.rows(), shares.length, UnusualRequests.DEFAULT_CAPACITY));
        }
        for (int i = 0; i < shares.length; i++) {
            double length = Math.sqrt(Kernels.dot(
                    means.values(), i * means.columns(), means.values(), i * means.columns(), means.columns()));
            // Written so that NaN fails them.
            if (!(length > 0.0 && length <= LONGEST)) {
                throw new IllegalArgumentException(
                        "mean %d of a group has the length %s: expected above 0 and at most 1".formatted(i, length));
            }
            if (!(shares[i] > 0.0 && shares[i] <= 1.0)) {
                throw new IllegalArgumentException(
                        "share %d of a group is %s: expected above 0 and at most 1".formatted(i, shares[i]));
            }
        }
    }

    /** Returns the groups of a baseline's own requests, single requests among them. */
    public static KnownGroups of(UnusualRequests baseline) {
        List<TrafficGroup> groups = TrafficGroup.all(baseline, null);
        Matrix means = Matrix.zeros(groups.size(), baseline.space().components());
        double[] shares = new double[groups.size()];
        for (int i = 0; i < shares.length; i++) {
            double[] mean = groups.get(i).mean();
            System.arraycopy(mean, 0, means.values(), i * mean.length, mean.length);
            shares[i] = groups.get(i).share();
        }
        return new KnownGroups(means, shares);
    }

    /** Returns how many of a baseline's requests these groups are of: those of more are a sample of that many. */
    public static int requestsBehind(int requests) {
        return (int) Math.min(requests, UnusualRequests.DEFAULT_CAPACITY / GroupSpace.SHARE_OF_UNUSUAL);
    }

    /** Returns whether one of the groups is like requests of this mean unit vector: the most like one. */
    Familiarity of(double[] mean) {
        int nearest = -1;
        double cosine = TrafficGroup.LEAST_COSINE;
        for (int i = 0; i < shares.length; i++) {
            double here = Kernels.dot(means.values(), i * mean.length, mean, 0, mean.length);
            if (here >= cosine) {
                cosine = here;
                nearest = i;
            }
        }
        return nearest < 0 ? new Familiarity.New() : new Familiarity.Known(shares[nearest]);
    }
}
