package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PrintableTest {

    @Test
    void whatMovesACursorOrBeginsALineBecomesAQuestionMark() {
        assertEquals("a?b?c?d?e", Printable.of("a\nb\u001bc\u2028d\u202ee"));
        assertEquals("Größe 😀", Printable.of("Größe 😀"));
    }

    @Test
    void longTextIsCutBetweenCharacters() {
        assertEquals("abc", Printable.of("abc", 3));
        assertEquals("abc…", Printable.of("abcd", 3));
        assertEquals("ab…", Printable.of("ab😀d", 3), "no half of a pair");
    }

    @Test
    void valuesAreQuotedWhereASpaceAQuoteOrASignWouldEndThemOrBeginAnother() {
        assertEquals("encoder.layer.2", Printable.value("encoder.layer.2"));
        assertEquals("a\\b", Printable.value("a\\b"));
        assertEquals("\"no rows\"", Printable.value("no rows"));
        assertEquals("\"a site=b\"", Printable.value("a site=b"));
        assertEquals("\"topic \\\"a\\\" is \\\\ gone\"", Printable.value("topic \"a\" is \\ gone"));
        assertEquals("\"\"", Printable.value(""));
        assertEquals("none", Printable.value(null));
        assertEquals("a?b", Printable.value("a\nb"));
    }
}
