package io.plumbline.topology.cli;

import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.Threshold;
import io.plumbline.topology.config.AlarmText;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options that say above which value of a statistic a window is drifted: at most one of them. Without any the standard
 * promise about false alarms holds, as for a site whose configuration names none.
 */
final class ThresholdOptions {

    @Option(
            names = "--threshold",
            paramLabel = "X",
            description = "Drifted above this value of the trigger, such as 4.0.")
    @Nullable
    Double value;

    @Option(
            names = "--threshold-share",
            paramLabel = "X",
            description = "Drifted above this share of the largest possible gap, in (0, 1].")
    @Nullable
    Double share;

    @Option(
            names = "--threshold-quantile",
            paramLabel = "Q",
            description = "Drifted above this quantile of the baseline's own windows, such as 0.95.")
    @Nullable
    Double quantile;

    @Option(
            names = "--false-alarms",
            paramLabel = "'N per TIME'",
            description =
                    "Drifted above the clean value that keeps this promise after --debounce. Default: '1 per 30d'.")
    @Nullable
    String falseAlarms;

    Threshold threshold(AlarmLaw law) {
        if (falseAlarms != null) {
            try {
                return new Threshold.FalseAlarms(AlarmText.budget(falseAlarms, law.advance()), law);
            } catch (IllegalArgumentException refused) {
                throw new UsageException("--false-alarms = %s: %s".formatted(falseAlarms, refused.getMessage()));
            }
        }
        try {
            if (value != null) {
                return new Threshold.Fixed(value);
            }
            if (share != null) {
                return new Threshold.ShareOfLargestGap(share);
            }
            return quantile == null
                    ? new Threshold.FalseAlarms(AlarmBudget.standard(), law)
                    : new Threshold.QuantileOfCleanWindows(quantile);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(String.valueOf(refused.getMessage()));
        }
    }
}
