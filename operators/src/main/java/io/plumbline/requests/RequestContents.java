package io.plumbline.requests;

import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SplitMix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds which requests hold which contents, and which of them are joined as copies of each other; for
 * {@link DistinctRequests}.
 */
final class RequestContents {

    /** Copies share half of what they would share at most. */
    private static final double SHARE_OF_COPIES = 0.5;
    /** The number of requests up to which a joined part is never looked at for a common opening. */
    private static final int FEW = 4;

    private static final double LEAST_OWN = 0.1;
    private static final double SURE = 3.0;
    private static final double NEAR_THE_MOST = 0.75;

    private final List<SampledRow> rows;
    private final int[] content;
    private final double rate;
    private final Set<Long> known;
    private final List<Long> names;
    private final int[] request;
    private final int[] rowsOf;
    private final long[] beginOf;
    private final List<Set<Integer>> held = new ArrayList<>();
    private final Map<Integer, List<Integer>> holders = new HashMap<>();
    private final Set<Integer> common = new HashSet<>();

    RequestContents(List<SampledRow> rows, int[] content, double rate, Set<Long> known) {
        this.rows = rows;
        this.content = content;
        this.rate = rate;
        this.known = known;
        Map<Long, Integer> numbers = new LinkedHashMap<>();
        this.request = new int[rows.size()];
        for (int row = 0; row < rows.size(); row++) {
            request[row] = numbers.computeIfAbsent(rows.get(row).request(), unknown -> numbers.size());
        }
        this.names = List.copyOf(numbers.keySet());
        this.rowsOf = new int[names.size()];
        this.beginOf = new long[names.size()];
        Arrays.fill(beginOf, Long.MAX_VALUE);
        names.forEach(name -> held.add(new HashSet<>()));
        for (int row = 0; row < rows.size(); row++) {
            int of = request[row];
            rowsOf[of]++;
            beginOf[of] = Math.min(beginOf[of], rows.get(row).timestampMs());
            if (held.get(of).add(content[row])) {
                holders.computeIfAbsent(content[row], unknown -> new ArrayList<>())
                        .add(of);
            }
        }
    }

    int count() {
        return names.size();
    }

    /** Returns for each request the number of the first one that it is joined to. */
    int[] joined() {
        int[] joined = join();
        while (findCommon(joined)) {
            joined = join();
        }
        return joined;
    }

    private int[] join() {
        int[] parent = new int[count()];
        Arrays.setAll(parent, of -> of);
        int[] shared = new int[count()];
        for (int of = 0; of < count(); of++) {
            Arrays.fill(shared, 0);
            for (int one : held.get(of)) {
                if (!common.contains(one)) {
                    holders.getOrDefault(one, List.of()).forEach(other -> shared[other]++);
                }
            }
            for (int other = 0; other < of; other++) {
                if (shared[other] > 0 && shared[other] >= expected(of, other)) {
                    int a = first(parent, of);
                    int b = first(parent, other);
                    parent[Math.max(a, b)] = Math.min(a, b);
                }
            }
        }
        Arrays.setAll(parent, of -> first(parent, of));
        return parent;
    }

    private double expected(int one, int other) {
        return SHARE_OF_COPIES
                * rate
                * Math.min(held.get(one).size(), held.get(other).size());
    }

    private static int first(int[] parent, int of) {
        int root = of;
        while (parent[root] != root) {
            root = parent[root];
        }
        return root;
    }

    /** Returns whether there are contents more that join nothing. */
    private boolean findCommon(int[] joined) {
        Map<Integer, List<Integer>> parts = new HashMap<>();
        for (int of = 0; of < joined.length; of++) {
            parts.computeIfAbsent(joined[of], unknown -> new ArrayList<>()).add(of);
        }
        int before = common.size();
        for (List<Integer> part : parts.values()) {
            if (part.size() > Math.max(FEW, count() / 4)) {
                findCommon(part);
            }
        }
        return common.size() > before;
    }

    private void findCommon(List<Integer> part) {
        Map<Integer, Integer> times = new HashMap<>();
        part.forEach(of -> held.get(of).forEach(one -> times.merge(one, 1, Integer::sum)));
        int all = times.values().stream().mapToInt(Integer::intValue).sum();
        long once = times.values().stream().filter(number -> number == 1).count();
        double ofCopies = Math.pow(1.0 - rate, part.size() - 1.0);
        double margin = Math.max(LEAST_OWN * (1.0 - ofCopies), SURE * Math.sqrt(ofCopies * (1.0 - ofCopies) / all));
        if ((double) once / all <= ofCopies + margin) {
            return;
        }
        times.keySet().removeAll(common);
        int most = times.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        times.forEach((one, number) -> {
            if (number >= FEW && number >= NEAR_THE_MOST * most) {
                common.add(one);
            }
        });
    }

    /**
     * Returns of joined requests the one with the most rows, and of equal contents the rows of the earliest request.
     */
    List<SampledRow> withoutRepeats(int[] joined) {
        // A known one first: rows like those the decoder in service was fitted on are no rows to judge by.
        Comparator<Integer> first = Comparator.comparing((Integer of) -> !known.contains(names.get(of)));
        Comparator<Integer> byTime = Comparator.comparingLong((Integer of) -> beginOf[of])
                .thenComparingLong(of -> SplitMix.mix(names.get(of)));
        Comparator<Integer> longest = first.thenComparingInt(of -> -rowsOf[of]).thenComparing(byTime);
        Comparator<Integer> earliest = first.thenComparing(byTime);
        Map<Integer, Integer> kept = new HashMap<>();
        for (int of = 0; of < joined.length; of++) {
            kept.merge(joined[of], of, (a, b) -> longest.compare(a, b) <= 0 ? a : b);
        }
        Map<Integer, Integer> owners = new HashMap<>();
        holders.forEach((one, all) -> all.stream()
                .filter(of -> of.equals(kept.get(joined[of])))
                .min(earliest)
                .ifPresent(of -> owners.put(one, of)));
        int[] own = new int[count()];
        for (int row = 0; row < content.length; row++) {
            own[request[row]] += owns(owners, row) ? 1 : 0;
        }
        List<SampledRow> left = new ArrayList<>();
        for (int row = 0; row < content.length; row++) {
            if (owns(owners, row) && own[request[row]] >= LEAST_OWN * rowsOf[request[row]]) {
                left.add(rows.get(row));
            }
        }
        return left;
    }

    private boolean owns(Map<Integer, Integer> owners, int row) {
        return owners.getOrDefault(content[row], -1) == request[row];
    }
}
