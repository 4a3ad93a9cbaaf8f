package io.plumbline.requests;

import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Links requests that are near copies of each other: one prompt template filled in again and again.
 *
 * <p>Two requests are linked where at least half of the sampled rows of one are near rows of the other ({@link
 * CleanRequests#near}, .06 of the median squared distance of two rows); links are transitive. A row moved by a share s
 * of the standard deviation of each coordinate is at {@code s^2} of its copy. Where only a share q of the rows was
 * sampled, a row's copy is in the sample with probability q, so that {@code q / 2} of the rows are enough, and two at
 * least.
 *
 * <p>The rows must be near rows of <em>one</em> other request: common words make half of the rows of many requests near
 * a row of any other.
 *
 * <p><b>A word that moves all rows after it</b> moves them alike. So rows are compared once more less the mean of their
 * request's, where that is of {@value #FEWEST_OF_A_MEAN} rows or more: its error is then within the limit. Copies moved
 * by .7 of the standard deviation from their second third on are linked by it, where .24 are without; of 40 requests
 * recorded in each of seven kinds of text, by two models, it links none that were apart, where a limit of .09 in the
 * place of .06 does.
 */
final class LinkedRequests {

    private static final double SHARE = 0.5;
    private static final int FEWEST = 2;
    private static final int FEWEST_OF_A_MEAN = 16;

    private final List<SampledRow> rows;
    private final double rate;
    private final double near;
    private final Map<Long, Integer> numbers = new LinkedHashMap<>();
    private final int[] request;
    private final int[] rowsOf;
    private final int[] parent;

    private LinkedRequests(List<SampledRow> rows, double rate, double near) {
        this.rows = rows;
        this.rate = rate;
        this.near = near;
        this.request = new int[rows.size()];
        for (int row = 0; row < request.length; row++) {
            request[row] = numbers.computeIfAbsent(rows.get(row).request(), unknown -> numbers.size());
        }
        this.rowsOf = new int[numbers.size()];
        Arrays.stream(request).forEach(of -> rowsOf[of]++);
        this.parent = new int[numbers.size()];
        Arrays.setAll(parent, of -> of);
    }

    /**
     * Returns the rows in their order, those of linked requests under one name: that of a known request where there is
     * one, else of the request of the smallest name.
     *
     * @param rows without repeats
     * @param rate share of the rows that were sampled, in (0, 1]
     * @param near squared distance of near rows, in units of the median over pairs of rows
     * @param known requests whose names stay
     */
    static List<SampledRow> underOneName(List<SampledRow> rows, double rate, double near, Set<Long> known) {
        if (rows.size() < 2) {
            return rows;
        }
        LinkedRequests linked = new LinkedRequests(rows, rate, near);
        linked.link(linked.nearRequests(rows));
        linked.link(linked.nearRequests(linked.centred()));
        return linked.named(known);
    }

    /**
     * Returns the rows less the means of their requests; as they are those of a request with few rows, and of one whose
     * rows hardly vary: less their mean they would be near 0, and so near those of every other such request.
     */
    private List<SampledRow> centred() {
        int width = rows.get(0).activation().length;
        double[][] means = new double[rowsOf.length][width];
        for (int row = 0; row < request.length; row++) {
            float[] values = rows.get(row).activation();
            double[] mean = means[request[row]];
            for (int j = 0; j < width; j++) {
                mean[j] += values[j] / rowsOf[request[row]];
            }
        }
        double[] spread = new double[rowsOf.length];
        for (int row = 0; row < request.length; row++) {
            float[] values = rows.get(row).activation();
            double[] mean = means[request[row]];
            for (int j = 0; j < width; j++) {
                spread[request[row]] += (values[j] - mean[j]) * (values[j] - mean[j]) / rowsOf[request[row]];
            }
        }
        double flat = near * RowContents.scale(rows);
        List<SampledRow> centred = new ArrayList<>(rows.size());
        for (int row = 0; row < request.length; row++) {
            SampledRow one = rows.get(row);
            if (rowsOf[request[row]] >= FEWEST_OF_A_MEAN && spread[request[row]] > flat) {
                float[] values = one.activation().clone();
                for (int j = 0; j < width; j++) {
                    values[j] -= (float) means[request[row]][j];
                }
                centred.add(new SampledRow(one.hash(), one.request(), one.timestampMs(), values, null));
            } else {
                centred.add(one);
            }
        }
        return centred;
    }

    /** Returns for each row, as it is or centred, the other requests that have a row near it; null for none. */
    private @Nullable BitSet[] nearRequests(List<SampledRow> rows) {
        double limit = near * RowContents.scale(rows);
        @Nullable BitSet[] found = new BitSet[rows.size()];
        NearRows.forEach(rows, limit, (i, j) -> {
            if (request[i] != request[j]
                    && !(has(found[i], request[j]) && has(found[j], request[i]))
                    && RowContents.distance(rows.get(i), rows.get(j)) <= limit) {
                add(found, i, request[j]);
                add(found, j, request[i]);
            }
        });
        return found;
    }

    private static boolean has(@Nullable BitSet requests, int one) {
        return requests != null && requests.get(one);
    }

    private static void add(@Nullable BitSet[] found, int row, int other) {
        BitSet requests = found[row];
        if (requests == null) {
            requests = new BitSet();
            found[row] = requests;
        }
        requests.set(other);
    }

    private void link(@Nullable BitSet[] found) {
        List<List<BitSet>> ofRequest = new ArrayList<>();
        for (int of = 0; of < rowsOf.length; of++) {
            ofRequest.add(new ArrayList<>());
        }
        for (int row = 0; row < found.length; row++) {
            BitSet others = found[row];
            if (others != null) {
                ofRequest.get(request[row]).add(others);
            }
        }
        int[] shared = new int[rowsOf.length];
        for (int of = 0; of < rowsOf.length; of++) {
            Arrays.fill(shared, 0);
            ofRequest.get(of).forEach(others -> others.stream().forEach(other -> shared[other]++));
            double needed = Math.max(SHARE * rate * rowsOf[of], Math.min(FEWEST, SHARE * rowsOf[of]));
            for (int other = 0; other < shared.length; other++) {
                if (shared[other] >= needed) {
                    int a = first(of);
                    int b = first(other);
                    parent[Math.max(a, b)] = Math.min(a, b);
                }
            }
        }
    }

    private int first(int of) {
        int root = of;
        while (parent[root] != root) {
            root = parent[root];
        }
        return root;
    }

    private List<SampledRow> named(Set<Long> known) {
        Map<Integer, Long> names = new LinkedHashMap<>();
        numbers.forEach((name, of) -> names.merge(
                first(of),
                name,
                (a, b) -> known.contains(a) == known.contains(b)
                        ? Long.valueOf(Math.min(a, b))
                        : known.contains(a) ? a : b));
        List<SampledRow> named = new ArrayList<>(rows.size());
        for (int row = 0; row < request.length; row++) {
            SampledRow one = rows.get(row);
            named.add(one.of(names.getOrDefault(first(request[row]), one.request())));
        }
        return named;
    }
}
