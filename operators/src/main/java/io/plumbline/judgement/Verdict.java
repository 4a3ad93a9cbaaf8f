package io.plumbline.judgement;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The three things that a window can say about its site. */
public enum Verdict {
    /** The site is as the baseline has it. */
    ALIGNED,
    /** The site has drifted. */
    DRIFTED,
    /** The window cannot be judged: the site is not being monitored. */
    UNDECIDED;

    /** Returns the word that reports, metrics and pages have for it. */
    @JsonValue
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the words for all verdicts. */
    public static List<String> labels() {
        return Stream.of(values()).map(Verdict::label).toList();
    }

    /** Reads a word; what it is instead is not repeated, since reports come from outside. */
    @JsonCreator
    static Verdict of(String label) {
        for (Verdict verdict : values()) {
            if (verdict.label().equals(label)) {
                return verdict;
            }
        }
        throw new IllegalArgumentException("its verdict is not known: expected aligned, drifted or undecided");
    }

    @Override
    public String toString() {
        return label();
    }
}
