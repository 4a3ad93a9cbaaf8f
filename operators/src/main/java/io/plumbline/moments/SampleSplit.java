package io.plumbline.moments;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Sampled rows in three parts that share no request and touch nowhere in time: to fit on, to choose between what was
 * fitted, and to judge what was chosen.
 *
 * <p>Rows of one request resemble each other, and so do requests that came one after another: a conversation goes on, a
 * document is sent in passages. A decoder checked on sisters or neighbours of its fitting rows would look better than
 * it is. So the requests are put in the order of their event times, cut into 1 to {@value #MOST_TURNS} turns of equal
 * length, and every turn into a stretch to fit on, one to choose on and one to judge on; where two stretches meet, one
 * request belongs to neither. A judge that also chose would be biased by its choice, which is why these are two parts.
 *
 * <p><b>Kinds.</b> A pool may hold first one language and then another. Cut by time alone it would be fitted to the
 * first and judged by the second. So within a turn every kind of requests ({@link RequestKinds}) that has
 * {@value #LEAST_REQUESTS} of them there is cut into stretches of its own, and the others as one. A request that
 * touches one of another kind that judges belongs to no part either.
 *
 * <p>At least {@value #LEAST_TO_JUDGE} requests judge, however small their share: an interval over fewer says little,
 * and less of later traffic. Below {@value #LEAST_REQUESTS} requests there are two parts without guards, and the same
 * rows choose and judge: such a split is enough to fit on, and for nobody to judge by ({@link #judgeIsIndependent}).
 *
 * <p>Which request goes where depends on times and names alone: the same split after a replay.
 *
 * @param fit rows to fit on
 * @param choose rows to choose on
 * @param judge rows to judge on, requests in the order of their times; those of {@code choose} where there are too few
 *     requests
 * @param refit everything that does not touch {@code judge}: what the chosen one is fitted on to be judged
 * @param all every row: what a decoder that passed is fitted on in the end
 * @param requests how many requests the rows are of
 * @param kinds how many kinds of requests judge
 */
public record SampleSplit(
        List<SampledRow> fit,
        List<SampledRow> choose,
        List<SampledRow> judge,
        List<SampledRow> refit,
        List<SampledRow> all,
        int requests,
        int kinds) {

    /** Requests to judge on. */
    public static final int LEAST_TO_JUDGE = 8;

    /** Requests for three parts: those to judge on, four to fit on, two to choose on and two guards. */
    public static final int LEAST_REQUESTS = 16;

    private static final int LEAST_TO_FIT = 4;
    private static final int LEAST_TO_CHOOSE = 2;
    private static final int REQUESTS_IN_A_TURN = 40;
    private static final int MOST_TURNS = 5;

    private enum Part {
        FIT,
        BETWEEN,
        CHOOSE,
        GUARD,
        JUDGE
    }

    /** The place of a request in time. */
    private record Place(long timestampMs, long mixed, long request) {}

    public SampleSplit {
        fit = List.copyOf(fit);
        choose = List.copyOf(choose);
        judge = List.copyOf(judge);
        refit = List.copyOf(refit);
        all = List.copyOf(all);
    }

    /**
     * Splits by whole requests. With a single request there is nothing to judge on.
     *
     * @param share of the requests to choose on, and as many again to judge on, in (0, 0.5); in short windows fewer
     *     choose and more judge
     */
    public static SampleSplit of(List<SampledRow> rows, double share) {
        if (!(share > 0.0 && share < 0.5)) {
            throw new IllegalArgumentException("share = %s: expected a share in (0, 0.5)".formatted(share));
        }
        List<Place> order = order(rows);
        boolean three = order.size() >= LEAST_REQUESTS;
        int turns = three ? Math.max(1, Math.min(MOST_TURNS, order.size() / REQUESTS_IN_A_TURN)) : 1;
        Map<Long, Integer> kinds = three ? RequestKinds.of(rows, LEAST_REQUESTS) : Map.of();
        Map<Long, Part> parts = parts(order, turns, kinds, share);
        if (three && (count(parts, Part.FIT) < LEAST_TO_FIT || count(parts, Part.CHOOSE) < LEAST_TO_CHOOSE)) {
            // Kinds that alternate leave too little between their guards.
            kinds = Map.of();
            parts = parts(order, turns, kinds, share);
        }
        List<SampledRow> fit = rowsIn(rows, parts, Part.FIT);
        List<SampledRow> judge = inTime(rowsIn(rows, parts, Part.JUDGE), order);
        return three
                ? new SampleSplit(
                        fit,
                        rowsIn(rows, parts, Part.CHOOSE),
                        judge,
                        rowsIn(rows, parts, Part.FIT, Part.BETWEEN, Part.CHOOSE),
                        rows,
                        order.size(),
                        kinds(judge, kinds))
                : new SampleSplit(fit, judge, judge, fit, rows, order.size(), 1);
    }

    private static Map<Long, Part> parts(List<Place> order, int turns, Map<Long, Integer> kinds, double share) {
        boolean three = order.size() >= LEAST_REQUESTS;
        Map<Long, Part> parts = new HashMap<>();
        for (int turn = 0; turn < turns; turn++) {
            List<Place> places = order.subList(turn * order.size() / turns, (turn + 1) * order.size() / turns);
            for (List<Place> kind : byKind(places, kinds)) {
                List<Part> layout = three
                        ? threeParts(kind.size(), share, (LEAST_TO_JUDGE + turns - 1) / turns, turn + 1 < turns)
                        : twoParts(kind.size(), share);
                for (int i = 0; i < layout.size(); i++) {
                    parts.put(kind.get(i).request(), layout.get(i));
                }
            }
        }
        if (three) {
            guardBetweenKinds(order, parts);
        }
        return parts;
    }

    private static long count(Map<Long, Part> parts, Part part) {
        return parts.values().stream().filter(part::equals).count();
    }

    /** Returns how many kinds the requests are of. */
    private static int kinds(List<SampledRow> judge, Map<Long, Integer> kinds) {
        return (int) judge.stream()
                .map(row -> kinds.getOrDefault(row.request(), 0))
                .distinct()
                .count();
    }

    /** Divides the places of a turn by kinds; those of kinds with too few for three parts are one more. */
    private static List<List<Place>> byKind(List<Place> places, Map<Long, Integer> kinds) {
        Map<Integer, List<Place>> divided = new TreeMap<>();
        for (Place place : places) {
            divided.computeIfAbsent(kinds.getOrDefault(place.request(), 0), unknown -> new ArrayList<>())
                    .add(place);
        }
        List<List<Place>> large = divided.values().stream()
                .filter(kind -> kind.size() >= LEAST_REQUESTS)
                .toList();
        int others = places.size() - large.stream().mapToInt(List::size).sum();
        if (others == 0) {
            return large;
        }
        // Others that are too few go with the smallest of the large ones.
        List<List<Place>> apart = new ArrayList<>(large);
        apart.sort(Comparator.comparingInt((List<Place> kind) -> -kind.size()));
        if (others < LEAST_REQUESTS && !apart.isEmpty()) {
            apart.remove(apart.size() - 1);
        }
        Set<Place> cut = new HashSet<>();
        apart.forEach(cut::addAll);
        apart.add(places.stream().filter(place -> !cut.contains(place)).toList());
        return apart;
    }

    /** Takes out what touches a request of another kind that chooses or judges; within a kind there are guards. */
    private static void guardBetweenKinds(List<Place> order, Map<Long, Part> parts) {
        for (int i = 0; i < order.size(); i++) {
            Part part = parts.get(order.get(i).request());
            if (part == Part.JUDGE || part == Part.GUARD) {
                continue;
            }
            Set<Part> beside = EnumSet.noneOf(Part.class);
            for (int j = Math.max(0, i - 1); j <= Math.min(order.size() - 1, i + 1); j++) {
                beside.add(parts.get(order.get(j).request()));
            }
            if (beside.contains(Part.JUDGE)) {
                parts.put(order.get(i).request(), Part.GUARD);
            } else if (part == Part.FIT && beside.contains(Part.CHOOSE)) {
                parts.put(order.get(i).request(), Part.BETWEEN);
            }
        }
    }

    /** Returns whether the rows that judge took no part in the choice. */
    public boolean judgeIsIndependent() {
        return !choose.equals(judge);
    }

    /**
     * Orders the rows request after request, so that a judge can ask whether the latest of them say the same as all.
     */
    private static List<SampledRow> inTime(List<SampledRow> rows, List<Place> order) {
        Map<Long, Integer> places = new HashMap<>();
        order.forEach(place -> places.put(place.request(), places.size()));
        return rows.stream()
                .sorted(Comparator.comparingInt(row -> places.getOrDefault(row.request(), 0)))
                .toList();
    }

    private static List<Place> order(List<SampledRow> rows) {
        Map<Long, Long> first = new HashMap<>();
        for (SampledRow row : rows) {
            first.merge(row.request(), row.timestampMs(), Math::min);
        }
        List<Place> order = new ArrayList<>(first.size());
        // Mixed once more: requests may be numbered by the same hash that chose the rows.
        first.forEach((request, time) -> order.add(new Place(time, SplitMix.mix(request), request)));
        order.sort(Comparator.comparingLong(Place::timestampMs).thenComparingLong(Place::mixed));
        return order;
    }

    /** Returns the parts in their order: fit, a guard, choose, a guard, judge, and a guard before the next turn. */
    private static List<Part> threeParts(int requests, double share, int leastToJudge, boolean guardAtTheEnd) {
        int guards = guardAtTheEnd ? 3 : 2;
        int held = Math.min((requests - guards - 1) / 2, (int) Math.round(share * (requests - guards)));
        int judge = Math.max(leastToJudge, held);
        int choose = Math.max(LEAST_TO_CHOOSE, Math.min(held, 2 * (requests - guards - judge) / 5));
        List<Part> layout = new ArrayList<>(requests);
        add(layout, Part.FIT, requests - guards - choose - judge);
        add(layout, Part.BETWEEN, 1);
        add(layout, Part.CHOOSE, choose);
        add(layout, Part.GUARD, 1);
        add(layout, Part.JUDGE, judge);
        add(layout, Part.GUARD, guards - 2);
        return layout;
    }

    private static List<Part> twoParts(int requests, double share) {
        int held = Math.min(requests - 1, (int) Math.ceil(share * requests));
        List<Part> layout = new ArrayList<>(requests);
        add(layout, Part.FIT, requests - held);
        add(layout, Part.JUDGE, held);
        return layout;
    }

    private static void add(List<Part> layout, Part part, int times) {
        for (int i = 0; i < times; i++) {
            layout.add(part);
        }
    }

    private static List<SampledRow> rowsIn(List<SampledRow> rows, Map<Long, Part> parts, Part... wanted) {
        List<Part> any = List.of(wanted);
        return rows.stream()
                .filter(row -> any.contains(parts.get(row.request())))
                .toList();
    }
}
