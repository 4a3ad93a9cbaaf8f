package io.plumbline.requests;

import io.plumbline.moments.SampledRow;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The sampled rows of a window without its repeats. A prompt that was sent twenty times counts once: of copies the
 * request with the most sampled rows stays, and of rows that requests have in common one.
 *
 * <p>A decoder that is judged on a copy of what it was fitted on looks as good as it will never be again. Names do not
 * tell: copies have names and times of their own. So contents are compared ({@link RowContents}).
 *
 * <p><b>Copies.</b> Two requests are joined when the rows they share are half of those that two copies would share at
 * this sampling rate, and one at least: of two copies of L rows sampled at rate q about {@code q^2 L} are in both
 * samples. Joins are transitive.
 *
 * <p><b>A common opening</b> (a system prompt) is no copy. Where more than a quarter of the requests are joined and
 * they have more rows of their own than copies leave ({@code (1 - q)^(n - 1)} of the rows of n copies are seen once),
 * the contents that most of them hold join nothing any more. Where that cannot be told apart they stay joined.
 *
 * <p><b>For a refit</b> ({@link #forRefit}) requests that are near copies count as one ({@link LinkedRequests}), rows
 * of enormous length take no part, and rows that one direction dominates are refused ({@link UsualRows}).
 *
 * <p><b>Mixed rows.</b> Where the rows of clean requests resemble each other and those of this window's requests do
 * not, the rows are not those of the requests they are named after, and no split by requests keeps what belongs
 * together on one side.
 *
 * @param rows what is left, in the given order
 * @param requests how many requests are left
 * @param repeats how many requests were left out as copies of others
 * @param linked how many requests count as one with another that they are near copies of
 * @param refusal why no decoder can be judged by these rows, a sentence without a full stop, or null
 */
public record DistinctRequests(
        List<SampledRow> rows,
        int requests,
        int repeats,
        int linked,
        @Nullable String refusal) {

    private static final double CLEAR_EFFECT = 4.0;
    private static final double SHARE_OF_CLEAN_EFFECT = 0.2;
    private static final double MARGIN = 2.0;
    private static final double MOST_OF_ONE_DIRECTION = 0.5;

    public DistinctRequests {
        rows = List.copyOf(rows);
    }

    /**
     * Compares the rows of a window.
     *
     * @param rate share of the window's rows that were sampled, in (0, 1]
     * @param clean what the requests of the baseline are like
     * @param known requests that the decoder in service was fitted on: of copies a known one stays
     */
    public static DistinctRequests among(List<SampledRow> rows, double rate, CleanRequests clean, Set<Long> known) {
        if (!(rate > 0.0 && rate <= 1.0)) {
            throw new IllegalArgumentException("rate = %s: expected a share in (0, 1]".formatted(rate));
        }
        if (rows.isEmpty()) {
            return new DistinctRequests(rows, 0, 0, 0, null);
        }
        RequestContents contents = new RequestContents(rows, RowContents.of(rows, clean.tolerance()), rate, known);
        List<SampledRow> left = contents.withoutRepeats(contents.joined());
        int requests = requests(left);
        return new DistinctRequests(left, requests, contents.count() - requests, 0, mixed(left, clean));
    }

    /**
     * Compares the rows that a decoder is to be fitted to and judged by, and puts those of near copies under one name,
     * so that whoever splits or judges by requests counts them once.
     *
     * @param rate share of the rows that were sampled, in (0, 1]
     * @param clean the measure of the requests of the baseline
     * @param known requests that the decoder in service was fitted on
     */
    public static DistinctRequests forRefit(List<SampledRow> rows, double rate, CleanRequests clean, Set<Long> known) {
        DistinctRequests distinct = among(UsualRows.of(rows), rate, clean, known);
        List<SampledRow> named = LinkedRequests.underOneName(distinct.rows, rate, clean.near(), known);
        int requests = requests(named);
        return new DistinctRequests(
                named,
                requests,
                distinct.repeats,
                distinct.requests - requests,
                distinct.refusal == null ? dominated(named) : distinct.refusal);
    }

    /** Says how many requests there are, as in "9 distinct requests (11 more are copies of others)". */
    public String count() {
        StringJoiner others = new StringJoiner(", ", " (", ")").setEmptyValue("");
        if (repeats > 0) {
            others.add("%d more %s".formatted(repeats, repeats == 1 ? "is a copy of another" : "are copies of others"));
        }
        if (linked > 0) {
            others.add("%d more %s".formatted(linked, linked == 1 ? "is a near copy" : "are near copies"));
        }
        return "%d distinct request%s%s".formatted(requests, requests == 1 ? "" : "s", others);
    }

    private static int requests(List<SampledRow> rows) {
        return (int) rows.stream().map(SampledRow::request).distinct().count();
    }

    private static @Nullable String dominated(List<SampledRow> rows) {
        double share = UsualRows.leadingShare(rows);
        return share <= MOST_OF_ONE_DIRECTION
                ? null
                : ("one direction holds %.0f %% of the energy of the rows about their mean, expected at most %.0f %%: "
                                + "their error would be that of a few long rows; mask these (special tokens, norm)")
                        .formatted(100.0 * share, 100.0 * MOST_OF_ONE_DIRECTION);
    }

    private static @Nullable String mixed(List<SampledRow> rows, CleanRequests clean) {
        RequestEffect expected = clean.effect();
        if (expected == null || !(expected.correlation() > CLEAR_EFFECT * expected.chance())) {
            return null;
        }
        RequestEffect found = RequestEffect.of(rows);
        return found.correlation() + MARGIN * found.chance() < SHARE_OF_CLEAN_EFFECT * expected.correlation()
                ? ("rows of one request are no more alike than rows of others (correlation %.4f, "
                                + "%.4f in the baseline): the request names do not say which rows belong together")
                        .formatted(found.correlation(), expected.correlation())
                : null;
    }
}
