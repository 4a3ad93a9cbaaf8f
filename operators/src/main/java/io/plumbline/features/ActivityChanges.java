package io.plumbline.features;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lists the features that are active more or less often in a window than on the baseline's rows. */
public record ActivityChanges(
        @JsonPropertyDescription(
                "rows of the window whose codes were looked at: those that reconstruction is measured on")
        long rows,

        @JsonPropertyDescription("requests of these rows") long requests,

        @JsonPropertyDescription("features that are active often enough to be compared in both directions")
        int tested,

        @JsonPropertyDescription("features that are active less often, beyond chance")
        int lessActive,

        @JsonPropertyDescription("features that are active more often, beyond chance")
        int moreActive,

        @JsonPropertyDescription("the surest of both, at most 50")
        List<ActivityChange> features,

        @JsonPropertyDescription("why nothing was compared; null where it was") @Nullable
        String undefined) {

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
