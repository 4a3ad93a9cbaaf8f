package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.requests.RepeatedTraffic;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says how much of a drifted window was sent again. */
public record Repeats(
        @JsonPropertyDescription("requests with sampled rows")
        int requests,

        @JsonPropertyDescription("of these, copies of another one")
        int copies,

        @JsonPropertyDescription("how often a row comes in its request, on average; 1 where none comes again")
        double times,

        @JsonPropertyDescription("a sentence where half of the requests or every other row comes again; null otherwise")
        @Nullable
        String sentence) {

    /** Returns the repeats with their sentence. */
    public static Repeats of(RepeatedTraffic counted) {
        return new Repeats(
                counted.requests(),
                counted.copies(),
                counted.times(),
                counted.isStorm()
                        ? String.format(
                                Locale.ROOT,
                                "%d of %d sampled requests are copies of others, and a row comes %.1f times in its "
                                        + "request: clients that send again make a window unlike the baseline without "
                                        + "a drift",
                                counted.copies(),
                                counted.requests(),
                                counted.times())
                        : null);
    }
}
