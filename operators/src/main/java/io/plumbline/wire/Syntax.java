package io.plumbline.wire;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says what is wrong with JSON or YAML, in words for whoever wrote it. The parser's words are for programmers, and
 * quote the text, which may hold a password.
 */
public enum Syntax {
    /** JSON. */
    JSON("expected keys and texts in double quotes, a comma between two entries and none behind the last"),
    /** YAML. */
    YAML("expected `key: value`, indented by spaces and not by tabs, every bracket and quote closed, "
            + "and quotes around a text with `: `, ` #` or a sign before it");

    private static final Pattern TWICE = Pattern.compile("Duplicate field '([^']{1,200})'.*", Pattern.DOTALL);

    private final String expected;

    Syntax(String expected) {
        this.expected = expected;
    }

    /** Returns a sentence: the line, and what is wrong there. */
    public String fault(JsonProcessingException broken) {
        JsonLocation at = broken.getLocation();
        return (at == null || at.getLineNr() < 1 ? "" : "line " + at.getLineNr() + ": ") + what(broken);
    }

    /** Returns what is wrong, without its place. */
    public String what(JsonProcessingException broken) {
        Matcher twice = TWICE.matcher(String.valueOf(broken.getOriginalMessage()));
        if (twice.matches()) {
            return "the key \"%s\" stands twice; keep one of them".formatted(twice.group(1));
        }
        if (broken instanceof StreamConstraintsException) {
            return "is nested deeper, or has a longer number, text or name, than can be read";
        }
        if (broken instanceof JsonEOFException) {
            return "not valid %s: the text ends in the middle; copy the file again".formatted(this);
        }
        return "not valid %s: %s".formatted(this, expected);
    }
}
