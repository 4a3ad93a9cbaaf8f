package io.plumbline.topology.adaptation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The outcomes of a request for adaptation, or of a person's command. */
public enum Outcome {
    /** A decoder is in service. */
    PUBLISHED,
    /** No candidate was better than the decoder in service, or the only one could not be fitted. */
    KEPT,
    /** The gate refused the best candidate. */
    REFUSED,
    /** The trained decoder is in service again, since the site is aligned. */
    REVERTED,
    /** The request could not be answered. */
    FAILED,
    /** A candidate waits for approval. */
    PROPOSED,
    /** Nothing was fitted, since a candidate waits. */
    WAITING,
    /** A person approved a candidate. */
    APPROVED,
    /** A candidate waits no longer. */
    WITHDRAWN,
    /** The trained decoder is in service again, since the adapted one did worse or a person said so. */
    ROLLED_BACK,
    /** A person pinned the site to its decoder. */
    PINNED,
    /** A person took the pin away. */
    UNPINNED,
    /** Nothing was done, since the site is pinned. */
    HELD,
    /** Nothing was done, since there were too many swaps. */
    LIMITED,
    /** Nothing was done, since a rollback is not long ago. */
    PAUSED,
    /** A person's command cannot be carried out. */
    REJECTED,
    /** The rows wait for those of further windows. */
    POOLED;

    /** Returns the word that reports, metrics and commands have for it. */
    @JsonValue
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Reads a word; what it is instead is not repeated, since reports come from outside. */
    @JsonCreator
    static Outcome of(String label) {
        return Stream.of(values())
                .filter(outcome -> outcome.label().equals(label))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("its outcome is not known: expected one of " + labels()));
    }

    /** Returns the words for all outcomes. */
    public static List<String> labels() {
        return Stream.of(values()).map(Outcome::label).toList();
    }

    @Override
    public String toString() {
        return label();
    }
}
