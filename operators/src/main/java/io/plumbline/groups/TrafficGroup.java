package io.plumbline.groups;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group of unusual requests that lie in about the same direction from the baseline's location.
 *
 * <p>Requests are grouped by average linkage of their unit vectors u while the mean cosine between two groups is at
 * least {@value #LEAST_COSINE}. <b>Evidence:</b> {@code |sum u|^2 - n}, the sum of the cosines of all ordered pairs, so
 * 0 on average where directions are independent, and up to {@code n (n - 1)}. Linkage leaves the mean cosine of a group
 * at least {@value #LEAST_COSINE}, so three requests have evidence of 3 or more, where a pair has at most 2: the level
 * of evidence is a number of requests. No clean stretch of 60 or 120 recorded requests had more than a pair.
 *
 * <p><b>Cost.</b> {@code 2 n^2 p} flops and {@code n^3 / 6} comparisons for n unusual requests: 15 ms at n = 256 and
 * p = 128 (2 cores, JVM 17). Immutable.
 *
 * @param share of all requests of the pool, copies counted each, in (0, 1]. Of a pool with more unusual requests than
 *     it keeps it is estimated from those kept
 * @param evidence dimensionless
 * @param shareOfEvidence of the evidence of all groups of the pool, in [0, 1]
 * @param familiarity whether the baseline has such requests
 * @param members different ones, nearest to the group's mean first
 */
public record TrafficGroup(
        double share, double evidence, double shareOfEvidence, Familiarity familiarity, List<UnusualRequest> members) {

    /** The mean cosine between two groups from which they are one. */
    static final double LEAST_COSINE = 0.5;

    /** The fewest requests that are evidence of anything. */
    public static final int FEWEST = 3;

    public TrafficGroup {
        members = List.copyOf(members);
    }

    /** Returns the number of requests; copies of one request count once. */
    public int size() {
        return members.size();
    }

    /** Returns the requests nearest to the mean of all, nearest first, at most {@code most}. */
    public List<UnusualRequest> nearest(int most) {
        return members.subList(0, Math.min(most, members.size()));
    }

    /**
     * Groups the requests of a pool.
     *
     * @param baseline groups of the baseline's own requests; null where it does not keep them
     * @return groups of {@value #FEWEST} requests or more, most evidence first
     */
    public static List<TrafficGroup> of(UnusualRequests pool, @Nullable KnownGroups baseline) {
        return all(pool, baseline).stream()
                .filter(group -> group.size() >= FEWEST)
                .toList();
    }

    /** Returns all groups, those of one request among them, most evidence first. */
    static List<TrafficGroup> all(UnusualRequests pool, @Nullable KnownGroups baseline) {
        List<UnusualRequest> kept = pool.kept();
        if (kept.isEmpty()) {
            return List.of();
        }
        int p = pool.space().components();
        Matrix directions = Matrix.zeros(kept.size(), p);
        for (int i = 0; i < kept.size(); i++) {
            System.arraycopy(kept.get(i).direction(), 0, directions.values(), i * p, p);
        }
        List<List<UnusualRequest>> groups =
                Linkage.groups(Kernels.multiplyTranspose(directions, directions), LEAST_COSINE).stream()
                        .map(group -> group.stream().map(kept::get).toList())
                        .toList();
        double evidence = groups.stream().mapToDouble(TrafficGroup::cosines).sum();
        long copies = kept.stream().mapToLong(UnusualRequest::copies).sum();
        double unusual = (double) pool.unusual() / pool.requests();
        return groups.stream()
                .map(group -> {
                    double[] mean = mean(group);
                    double here = cosines(group);
                    return new TrafficGroup(
                            unusual
                                    * group.stream()
                                            .mapToLong(UnusualRequest::copies)
                                            .sum()
                                    / copies,
                            here,
                            here > 0.0 ? here / evidence : 0.0,
                            baseline == null ? new Familiarity.NotKept() : baseline.of(mean),
                            nearestFirst(group, mean));
                })
                .sorted(Comparator.comparingDouble(TrafficGroup::evidence)
                        .reversed()
                        .thenComparingLong(group -> group.members().get(0).content()))
                .toList();
    }

    private static List<UnusualRequest> nearestFirst(List<UnusualRequest> group, double[] mean) {
        return group.stream()
                .sorted(Comparator.comparingDouble((UnusualRequest one) -> -cosine(one.direction(), mean))
                        .thenComparingLong(UnusualRequest::content))
                .toList();
    }

    /** Returns the mean unit vector of the members, p numbers of a length up to 1. */
    double[] mean() {
        return mean(members);
    }

    private static double[] mean(List<UnusualRequest> members) {
        double[] mean = new double[members.get(0).direction().length];
        for (UnusualRequest member : members) {
            Kernels.addScaled(1.0 / members.size(), member.direction(), 0, mean, 0, mean.length);
        }
        return mean;
    }

    /** Returns {@code |sum u|^2 - n}; 0 of one request, whatever rounding makes of it. */
    private static double cosines(List<UnusualRequest> members) {
        int n = members.size();
        double[] mean = mean(members);
        return n == 1 ? 0.0 : n * (n * cosine(mean, mean) - 1.0);
    }

    private static double cosine(double[] one, double[] other) {
        return Kernels.dot(one, 0, other, 0, one.length);
    }
}
