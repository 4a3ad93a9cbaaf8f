package io.plumbline.judgement;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The verdict of one window about its site. */
public sealed interface DriftVerdict {

    /** Returns which of the three it is. */
    Verdict kind();

    /** Returns its name in reports and metrics: {@code aligned}, {@code drifted} or {@code undecided}. */
    default String label() {
        return kind().label();
    }

    /**
     * Returns the one clause that goes with the verdict, about the statistic of this name. What its threshold rests on
     * is the {@link Basis}.
     */
    String reason(String statistic);

    /**
     * Counts the windows that speak against the standing of their site.
     *
     * @param windows of those that are remembered, this one among them
     * @param needed as many change the standing
     * @param level an aligned site's windows count above it, a drifted one's at or below it
     */
    record Debounce(int windows, int needed, double level) {}

    /** Says that the site is as the baseline has it, or not yet for long enough above the threshold. */
    record Aligned(double value, double threshold, @Nullable Basis basis, Debounce debounce) implements DriftVerdict {
        @Override
        public Verdict kind() {
            return Verdict.ALIGNED;
        }

        @Override
        public String reason(String statistic) {
            String compared = compared(statistic, value, threshold);
            return value > threshold
                    ? "%s, %d of %d windows needed above it".formatted(compared, debounce.windows(), debounce.needed())
                    : compared;
        }
    }

    /** Says that the site has drifted and not come back below the clear level. */
    record Drifted(double value, double threshold, @Nullable Basis basis, Debounce debounce) implements DriftVerdict {
        @Override
        public Verdict kind() {
            return Verdict.DRIFTED;
        }

        @Override
        public String reason(String statistic) {
            String compared = compared(statistic, value, threshold);
            return value > threshold
                    ? compared
                    : String.format(
                            Locale.ROOT,
                            "%s, %d of %d windows needed at or below %.4g",
                            compared,
                            debounce.windows(),
                            debounce.needed(),
                            debounce.level());
        }
    }

    /** Says that the window cannot be judged: too few rows, no eigengap, no baseline. Neither good nor bad news. */
    record Undecided(String reason) implements DriftVerdict {
        @Override
        public Verdict kind() {
            return Verdict.UNDECIDED;
        }

        @Override
        public String reason(String statistic) {
            return reason;
        }
    }

    private static String compared(String statistic, double value, double threshold) {
        int digits = 4;
        return "%s = %s is %s the threshold %s"
                .formatted(
                        statistic,
                        Amounts.apart(value, threshold, digits),
                        value > threshold ? "above" : "not above",
                        Amounts.apart(threshold, value, digits));
    }
}
