package io.plumbline.topology.config;

import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.DriftPolicy;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads how often a false alarm may come, and how many windows it takes, as written in configuration and options. */
public final class AlarmText {

    private static final Pattern ALARMS = Pattern.compile("(\\d{1,6})\\s+per\\s+(.+)");
    private static final Pattern DEBOUNCE = Pattern.compile("(\\d{1,4})\\s+of\\s+(\\d{1,4})");
    private static final int LONGEST_DEBOUNCE = 64;

    private AlarmText() {}

    /**
     * Reads {@code 1 per 30d}.
     *
     * @param advance of the windows
     * @throws IllegalArgumentException saying what to write instead
     */
    public static AlarmBudget budget(String text, Duration advance) {
        Matcher matcher = ALARMS.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("expected `N per DURATION`, such as 1 per 30d");
        }
        int alarms = Integer.parseInt(matcher.group(1));
        Duration time = DurationText.parse(matcher.group(2));
        if (alarms < 1 || time.isZero()) {
            throw new IllegalArgumentException("expected 1 or more per positive duration, such as 1 per 30d");
        }
        if ((double) alarms * advance.toMillis() >= time.toMillis()) {
            throw new IllegalArgumentException(
                    "expected fewer alarms than windows, and a window begins every %s: 1 per 30d is usual"
                            .formatted(DurationText.format(advance)));
        }
        return new AlarmBudget.PerTime(alarms, time);
    }

    /**
     * Reads {@code 2 of 3}.
     *
     * @throws IllegalArgumentException saying what to write instead
     */
    public static DriftPolicy debounce(String text) {
        Matcher matcher = DEBOUNCE.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("expected `j of n`, such as 2 of 3: over in j of the last n windows");
        }
        int over = Integer.parseInt(matcher.group(1));
        int of = Integer.parseInt(matcher.group(2));
        if (over < 1 || over > of || of > LONGEST_DEBOUNCE) {
            throw new IllegalArgumentException(
                    "expected `j of n` with j from 1 to n and n at most " + LONGEST_DEBOUNCE);
        }
        return new DriftPolicy(over, of);
    }
}
