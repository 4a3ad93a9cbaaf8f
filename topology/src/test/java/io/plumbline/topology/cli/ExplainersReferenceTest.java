package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/**
 * Holds the table of docs/use/explainers.md to what the readers say of themselves. With {@code
 * -Dplumbline.write.documents=true} it writes that part of the page anew.
 */
class ExplainersReferenceTest {

    private static final String PAGE = "docs/use/explainers.md";
    private static final String BEGIN = "<!-- What follows is written by ExplainersReferenceTest -->\n";

    @Test
    void thePageHasALineForEveryFormat() throws IOException {
        String text = Markdown.read(PAGE).text();
        String head = text.substring(0, text.indexOf(BEGIN) + BEGIN.length());
        String expected = head + table();
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(Repository.ROOT.resolve(PAGE), expected);
        } else {
            assertEquals(expected, text, "run this test with -Dplumbline.write.documents=true and commit the page");
        }
    }

    private static String table() {
        StringBuilder table = new StringBuilder("""

                | format | recognised by | written by | kinds read | adapted decoders are written as | options | refused |
                |---|---|---|---|---|---|---|
                """);
        for (FormatFacts facts : Formats.facts()) {
            table.append("| %s | %s | %s | %s | %s | %s | %s |\n"
                    .formatted(
                            facts.name(),
                            facts.files().replace("*", "\\*"),
                            facts.writtenBy(),
                            facts.kinds(),
                            facts.adaptedAs(),
                            facts.options(),
                            facts.refused()));
        }
        return table.toString();
    }
}
