package io.plumbline.comparison;

import io.plumbline.judgement.Amounts;
import io.plumbline.records.ActivationBatch;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of one side's requests, and what tells two sides apart.
 *
 * <p><b>A template</b> is what all requests of a side begin with and end with. It is missing on the other side where,
 * in nine of ten requests, what stands between is the same on both sides: the shorter one begins the longer one, which
 * was cut off later, and has half of its tokens or more.
 */
record Prompts(List<Request> requests) {

    private static final double MOST = 0.9;

    /** @param ids none where the dump does not say */
    record Request(int rows, long... ids) {

        static Request of(ActivationBatch batch) {
            return new Request(batch.rows(), batch.tokenIds() == null ? new long[0] : batch.tokenIds());
        }
    }

    static Prompts of(List<ActivationBatch> dump) {
        return new Prompts(dump.stream().map(Request::of).toList());
    }

    /** Returns why rows of before have no partner in after; null where they have. */
    static @Nullable String difference(Prompts before, Prompts after) {
        if (before.requests.size() != after.requests.size()) {
            return "before has %s, after has %d"
                    .formatted(Amounts.count(before.requests.size(), "request"), after.requests.size());
        }
        for (int i = 0; i < before.requests.size(); i++) {
            Request b = before.requests.get(i);
            Request a = after.requests.get(i);
            if (b.rows != a.rows) {
                return "request %d has %s before and %d after".formatted(i, Amounts.count(b.rows, "row"), a.rows);
            }
            if (b.ids.length > 0 && a.ids.length > 0 && !Arrays.equals(b.ids, a.ids)) {
                return "request %d has other token ids from row %d on".formatted(i, Arrays.mismatch(b.ids, a.ids));
            }
        }
        return null;
    }

    /** Returns a sentence about the template that one side lacks; null where none is. */
    static @Nullable String missingTemplate(Prompts before, Prompts after) {
        int count = before.requests.size();
        if (count < 2 || count != after.requests.size() || difference(before, after) == null) {
            return null;
        }
        int beginBefore = before.shared(false);
        int beginAfter = after.shared(false);
        int endBefore = before.shared(true);
        int endAfter = after.shared(true);
        int same = 0;
        for (int i = 0; i < count; i++) {
            same += isSame(before.between(i, beginBefore, endBefore), after.between(i, beginAfter, endAfter)) ? 1 : 0;
        }
        if (same < MOST * count || (beginBefore == beginAfter && endBefore == endAfter)) {
            return null;
        }
        return ("the chat template is missing in %s: tokens that all requests share are %d at the beginning and %d at"
                        + " the end before, %d and %d after, and %d of %d requests are the same between")
                .formatted(
                        beginBefore + endBefore > beginAfter + endAfter ? "after" : "before",
                        beginBefore,
                        endBefore,
                        beginAfter,
                        endAfter,
                        same,
                        count);
    }

    private static boolean isSame(long[] one, long[] other) {
        int length = Math.min(one.length, other.length);
        return length > 0
                && 2 * length >= Math.max(one.length, other.length)
                && Arrays.equals(one, 0, length, other, 0, length);
    }

    private long[] between(int request, int begin, int end) {
        long[] all = requests.get(request).ids;
        return Arrays.copyOfRange(all, begin, Math.max(begin, all.length - end));
    }

    /** Returns how many tokens all requests begin with, or end with. */
    private int shared(boolean atTheEnd) {
        long[] first = requests.get(0).ids;
        int shared = first.length;
        for (Request request : requests) {
            long[] other = request.ids;
            int length = 0;
            while (length < Math.min(shared, other.length)
                    && first[atTheEnd ? first.length - 1 - length : length]
                            == other[atTheEnd ? other.length - 1 - length : length]) {
                length++;
            }
            shared = length;
        }
        return shared;
    }
}
