package io.plumbline.activity;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists the features that are active more or less often in a window than on the baseline's rows.
 *
 * @param rows rows of the window whose codes were looked at
 * @param requests requests of these rows
 * @param tested features that are active often enough to be compared
 * @param lessActive how many of these are active less often
 * @param moreActive how many features are active more often
 * @param features the most certain of both, at most {@link ActivityComparison#REPORTED}
 * @param undefined why nothing was compared; null where it was
 */
public record ActivityChanges(
        long rows,
        long requests,
        int tested,
        int lessActive,
        int moreActive,
        List<ActivityChange> features,
        @Nullable String undefined) {

    public ActivityChanges {
        features = List.copyOf(features);
    }

    /** Returns the list of a window without codes. */
    public static ActivityChanges notCompared(String reason) {
        return undefined(0, 0, reason);
    }

    static ActivityChanges undefined(long rows, long requests, String reason) {
        return new ActivityChanges(rows, requests, 0, 0, 0, List.of(), reason);
    }
}
