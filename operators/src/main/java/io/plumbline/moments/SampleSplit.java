package io.plumbline.moments;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sampled rows in three parts that share no request and touch nowhere in time: to fit on, to choose between what was fitted,
 * and to judge what was chosen.
 *
 * <p>Rows of one request resemble each other, and so do requests that came one after another: a conversation goes on, a
 * document is sent in passages. A decoder checked on sisters or neighbours of its fitting rows would look better than it is.
 * So the requests are put in the order of their event times, cut into 1 to {@value #MOST_TURNS} turns of equal length, and
 * every turn into a stretch to fit on, one to choose on and one to judge on; where two stretches meet, one request belongs to
 * neither. A judge that also chose would be biased by its choice, which is why these are two parts.
 *
 * <p>Below {@value #ENOUGH_FOR_THREE} requests there are two parts without guards, and the same rows choose and judge.
 *
 * <p>Which request goes where depends on times and names alone: the same split after a replay.
 *
 * @param fit rows to fit on
 * @param choose rows to choose on
 * @param judge rows to judge on; the same as {@code choose} when there are too few requests
 * @param refit everything that does not touch {@code judge}: what the chosen one may be fitted on in the end
 */
public record SampleSplit(
        List<SampledRow> fit, List<SampledRow> choose, List<SampledRow> judge, List<SampledRow> refit) {

    private static final int ENOUGH_FOR_THREE = 12;
    private static final int REQUESTS_IN_A_TURN = 40;
    private static final int MOST_TURNS = 5;

    private enum Part {
        FIT,
        BETWEEN,
        CHOOSE,
        GUARD,
        JUDGE
    }

    /** A request, as far as its place in time goes. */
    private record Place(long timestampMs, long mixed, long request) {}

    public SampleSplit {
        fit = List.copyOf(fit);
        choose = List.copyOf(choose);
        judge = List.copyOf(judge);
        refit = List.copyOf(refit);
    }

    /**
     * Splits by whole requests. With a single request there is nothing to judge on.
     *
     * @param share of the requests to choose on, and as many again to judge on, in (0, 0.5)
     */
    public static SampleSplit of(List<SampledRow> rows, double share) {
        if (!(share > 0.0 && share < 0.5)) {
            throw new IllegalArgumentException("share = %s: expected a share in (0, 0.5)".formatted(share));
        }
        List<Place> order = order(rows);
        Map<Long, Part> parts = new HashMap<>();
        boolean three = order.size() >= ENOUGH_FOR_THREE;
        int turns = three ? Math.max(1, Math.min(MOST_TURNS, order.size() / REQUESTS_IN_A_TURN)) : 1;
        for (int turn = 0; turn < turns; turn++) {
            int from = turn * order.size() / turns;
            int to = (turn + 1) * order.size() / turns;
            List<Part> layout = three ? threeParts(to - from, share, turn + 1 < turns) : twoParts(to - from, share);
            for (int i = from; i < to; i++) {
                parts.put(order.get(i).request(), layout.get(i - from));
            }
        }
        List<SampledRow> fit = rowsIn(rows, parts, Part.FIT);
        List<SampledRow> judge = rowsIn(rows, parts, Part.JUDGE);
        return three
                ? new SampleSplit(
                        fit,
                        rowsIn(rows, parts, Part.CHOOSE),
                        judge,
                        rowsIn(rows, parts, Part.FIT, Part.BETWEEN, Part.CHOOSE))
                : new SampleSplit(fit, judge, judge, fit);
    }

    /** Whether the rows that judge took no part in the choice. */
    public boolean judgeIsIndependent() {
        return !choose.equals(judge);
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

    /** Fit, a guard, choose, a guard, judge, and a guard before the next turn. */
    private static List<Part> threeParts(int requests, double share, boolean guardAtTheEnd) {
        int guards = guardAtTheEnd ? 3 : 2;
        int held = Math.min((requests - guards - 1) / 2, Math.max(2, (int) Math.round(share * (requests - guards))));
        List<Part> layout = new ArrayList<>(requests);
        add(layout, Part.FIT, requests - guards - 2 * held);
        add(layout, Part.BETWEEN, 1);
        add(layout, Part.CHOOSE, held);
        add(layout, Part.GUARD, 1);
        add(layout, Part.JUDGE, held);
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
