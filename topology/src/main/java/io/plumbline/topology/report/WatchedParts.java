package io.plumbline.topology.report;

import io.plumbline.features.WatchedNumbers;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Divides the requests of a window by a property, so that a person sees in which of them a watched feature or probe
 * changed. Nothing is tested in a part: few requests are in each.
 */
public final class WatchedParts {

    /** Names the property that {@link #byLength} divides by. */
    public static final String LENGTH = "length";

    private static final long[] LENGTHS = {32, 128, 512, 2_048};

    private final String by;
    private final @Nullable String unsaid;
    private final LongFunction<@Nullable String> valueOf;

    /** @param unsaid the part of requests without a value; null: they are left out */
    private WatchedParts(String by, @Nullable String unsaid, LongFunction<@Nullable String> valueOf) {
        this.by = by;
        this.unsaid = unsaid;
        this.valueOf = valueOf;
    }

    /**
     * Divides by a header or tag.
     *
     * @param valueOf its value for a request; null where that has none
     */
    public static WatchedParts by(String header, LongFunction<@Nullable String> valueOf) {
        return new WatchedParts(header, Breakdown.UNSAID, valueOf);
    }

    /**
     * Divides by how many rows of a request the window has. Of a window with many requests the rows of some are not
     * counted: which ones says nothing of what they hold, so they are left out.
     *
     * @param rowsOf a request's rows; null where that is not known
     */
    public static WatchedParts byLength(LongFunction<@Nullable Long> rowsOf) {
        return new WatchedParts(LENGTH, null, request -> {
            Long rows = rowsOf.apply(request);
            return rows == null ? null : length(rows);
        });
    }

    private static String length(long rows) {
        int at = 0;
        while (at < LENGTHS.length && rows >= LENGTHS[at]) {
            at++;
        }
        return at == LENGTHS.length
                ? "%d rows and more".formatted(LENGTHS[at - 1])
                : "%d to %d rows".formatted(at == 0 ? 1 : LENGTHS[at - 1], LENGTHS[at] - 1);
    }

    /**
     * Returns the parts with most requests first, at most {@link Breakdown#MOST}; none where all requests are in one.
     *
     * @param requests ascending, those of the numbers
     */
    public List<WatchedReport.Part> of(long[] requests, WatchedNumbers numbers) {
        Map<String, List<Integer>> places = new TreeMap<>();
        for (int i = 0; i < requests.length; i++) {
            String said = valueOf.apply(requests[i]);
            String value = said == null ? unsaid : said;
            if (value != null) {
                places.computeIfAbsent(value, some -> new ArrayList<>()).add(i);
            }
        }
        return places.size() < 2
                ? List.of()
                : places.entrySet().stream()
                        .sorted(Comparator.comparingInt((Map.Entry<String, List<Integer>> part) ->
                                        part.getValue().size())
                                .reversed())
                        .limit(Breakdown.MOST)
                        .map(part -> new WatchedReport.Part(
                                by,
                                part.getKey(),
                                part.getValue().size(),
                                mean(numbers.rates(), part.getValue()),
                                mean(numbers.means(), part.getValue())))
                        .toList();
    }

    private static double mean(double[] numbers, List<Integer> places) {
        return places.stream().mapToDouble(place -> numbers[place]).average().orElse(Double.NaN);
    }
}
