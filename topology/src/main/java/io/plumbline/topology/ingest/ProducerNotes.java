package io.plumbline.topology.ingest;

import org.apache.kafka.common.header.Headers;

/**
 * Holds what a producer says of a record beside its rows: how many tokens were served, and by what. None of it enters a
 * statistic; it explains them.
 */
public record ProducerNotes(Coverage coverage, Origin origin) {

    /** The notes of a producer that said nothing. */
    public static final ProducerNotes NONE = new ProducerNotes(Coverage.UNKNOWN, Origin.UNSAID);

    /**
     * Reads the headers of a record that brings this many rows.
     *
     * @throws IllegalArgumentException when the counts of {@link Coverage} are none
     */
    static ProducerNotes of(Headers headers, int rows) {
        Coverage coverage = Coverage.of(headers, rows);
        Origin origin = Origin.of(headers);
        return coverage.isKnown() || !origin.isUnsaid() ? new ProducerNotes(coverage, origin) : NONE;
    }

    /** Returns whether the producer said nothing. */
    public boolean isEmpty() {
        return !coverage.isKnown() && origin.isUnsaid();
    }
}
