package io.plumbline.groups;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.List;

/**
 * Average linkage: the two groups with the largest mean cosine between their members become one, until that is below a
 * limit (Sokal and Michener, University of Kansas Science Bulletin 38, 1958).
 *
 * <p><b>Cost.</b> At most {@code n^3 / 6} comparisons: 3 million at n = 256. Of equal means the first pair is taken,
 * so members in one order give one answer.
 */
final class Linkage {

    private Linkage() {}

    /**
     * Returns the groups, each with its members' places in ascending order.
     *
     * @param cosines n x n, symmetric
     * @param least the mean cosine from which two groups are one
     */
    static List<List<Integer>> groups(Matrix cosines, double least) {
        List<List<Integer>> groups = new ArrayList<>();
        for (int i = 0; i < cosines.rows(); i++) {
            groups.add(new ArrayList<>(List.of(i)));
        }
        // Sums over all pairs of members of two groups, one row a group; a group that became part of another is gone.
        Matrix sums = cosines.copy();
        while (groups.size() > 1) {
            int first = 0;
            int second = 0;
            double best = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < groups.size(); i++) {
                for (int j = i + 1; j < groups.size(); j++) {
                    double mean = sums.get(place(groups, i), place(groups, j))
                            / groups.get(i).size()
                            / groups.get(j).size();
                    if (mean > best) {
                        best = mean;
                        first = i;
                        second = j;
                    }
                }
            }
            if (!(best >= least)) {
                break;
            }
            add(sums, place(groups, first), place(groups, second));
            groups.get(first).addAll(groups.remove(second));
        }
        groups.forEach(group -> group.sort(null));
        return groups;
    }

    /** Returns the row of sums that a group has: that of its first member. */
    private static int place(List<List<Integer>> groups, int group) {
        return groups.get(group).get(0);
    }

    private static void add(Matrix sums, int to, int from) {
        for (int k = 0; k < sums.rows(); k++) {
            sums.set(to, k, sums.get(to, k) + sums.get(from, k));
        }
        for (int k = 0; k < sums.rows(); k++) {
            sums.set(k, to, sums.get(k, to) + sums.get(k, from));
        }
    }
}
