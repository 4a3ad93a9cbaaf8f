package io.plumbline.topology.config;

import io.plumbline.judgement.DriftPolicy;
import io.plumbline.topology.adaptation.SwapRules;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads from {@code adaptation} of a site how far its decoder may be changed without a person. */
final class SwapRulesReader {

    private static final Pattern SWAPS = Pattern.compile("(\\d{1,4})\\s+per\\s+(.+)");

    private record Limit(int swaps, Duration period) {}

    private SwapRulesReader() {}

    static SwapRules read(ConfigNode node) {
        SwapRules otherwise = SwapRules.DEFAULT;
        SwapRules.Mode mode = node.choice("mode", otherwise.mode(), SwapRules.Mode.class);
        String standard = "%d per %s".formatted(otherwise.maxSwaps(), DurationText.format(otherwise.swapPeriod()));
        Limit limit = limit(node.parsed("max_swaps", standard, SwapRulesReader::checked));
        Duration lifetime = node.duration("candidate_lifetime", otherwise.candidateLifetime());
        if (lifetime.isZero()) {
            node.problem("candidate_lifetime", "is 0: expected a time in which a person can look, such as 7d");
            lifetime = otherwise.candidateLifetime();
        }
        DriftPolicy rollback = node.isOff("rollback")
                ? null
                : node.parsed("rollback", SwapRules.DEFAULT_ROLLBACK, AlarmText::debounce);
        Duration pause = node.duration("pause_after_rollback", otherwise.pause());
        return new SwapRules(mode, limit.swaps(), limit.period(), lifetime, rollback, pause);
    }

    /** Checks the text and returns it, which is what the effective configuration shows. */
    private static String checked(String text) {
        var unused = limit(text);
        return text;
    }

    private static Limit limit(String text) {
        Matcher matcher = SWAPS.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("expected `N per DURATION`, such as 4 per 1d");
        }
        int swaps = Integer.parseInt(matcher.group(1));
        Duration period = DurationText.parse(matcher.group(2));
        if (swaps < 1 || swaps > SwapRules.MOST_SWAPS || period.isZero()) {
            throw new IllegalArgumentException(
                    "expected 1 to %d per positive duration, such as 4 per 1d; mode: propose swaps nothing by itself"
                            .formatted(SwapRules.MOST_SWAPS));
        }
        return new Limit(swaps, period);
    }
}
