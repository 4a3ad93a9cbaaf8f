package io.plumbline.topology.cli;

import io.plumbline.topology.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/** Values of options that need a sentence when they are wrong. */
final class Options {

    private Options() {}

    static Duration duration(String option, String text) {
        try {
            return DurationText.parse(text);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("%s = %s: %s".formatted(option, text, refused.getMessage()));
        }
    }

    static Instant instant(String option, String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException refused) {
            throw new UsageException(
                    "%s = %s: expected an instant such as 2026-01-01T00:00:00Z".formatted(option, text));
        }
    }
}
