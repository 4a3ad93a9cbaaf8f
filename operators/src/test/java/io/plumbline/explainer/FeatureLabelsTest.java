package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.formats.FeatureLink;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeatureLabelsTest {

    @TempDir
    private Path folder;

    @Test
    void jsonAndCsvSayTheSame() throws IOException {
        FeatureLabels json = read("labels.json", "{\"0\": \"dogs\", \"17\": \"cities, and \\\"towns\\\"\"}");
        FeatureLabels csv =
                read("labels.csv", "feature,label\r\n0,dogs\r\n17,\"cities, and \"\"towns\"\"\"\r\n\r\n3,\r\n");
        for (int feature = 0; feature < 20; feature++) {
            assertEquals(json.of(feature), csv.of(feature));
        }
        assertEquals("cities, and \"towns\"", csv.of(17));
        assertNull(csv.of(3));
        assertEquals(2, csv.size());
    }

    @Test
    void theMarkOfASpreadsheetCostsNoLabel() throws IOException {
        assertEquals("dogs", read("labels.csv", "\uFEFF0,dogs\r\n1,cats\r\n").of(0));
        assertEquals("dogs", read("labels.json", "\uFEFF{\"0\": \"dogs\"}").of(0));
        Files.write(folder.resolve("wide.csv"), "0,dogs".getBytes(StandardCharsets.UTF_16));
        String wide = assertThrows(
                        ExplainerFormatException.class, () -> FeatureLabels.read(folder.resolve("wide.csv"), 20))
                .getMessage();
        assertTrue(wide.contains("wide.csv: is text in UTF-16: expected UTF-8"), wide);
    }

    @Test
    void aLabelIsOneLineOfAtMost200Characters() throws IOException {
        FeatureLabels labels =
                read("labels.json", "{\"1\": \"a\\u001b[2Jb\\n\\u202ec\", \"2\": \"" + "x".repeat(300) + "\"}");
        assertEquals("a?[2Jb??c", labels.of(1));
        assertEquals("x".repeat(200), labels.of(2));
    }

    @Test
    void whatIsNoLabelIsRefusedWithTheLine() throws IOException {
        assertTrue(refused("a.json", "{\"20\": \"x\"}").contains("feature \"20\": expected an index from 0 to 19"));
        assertTrue(refused("a.json", "{\"-1\": \"x\"}").contains("feature \"-1\": expected an index from 0 to 19"));
        assertTrue(refused("a.json", "{\"1\": 3}").contains("feature 1: NUMBER, expected a text in quotes"));
        assertTrue(refused("a.json", "[]").contains("not a JSON object"));
        assertTrue(refused("a.csv", "1,dogs,cats\n").contains("a line of 3 cells, \"1,dogs,cats\""));
        assertTrue(refused("a.csv", "1,dogs\n1,cats\n").contains("feature 1 has two labels"));
        assertTrue(refused("a.json", "{\"1\": \"x\", \"1\": \"y\"}").contains("the key \"1\" stands twice"));
        assertTrue(refused("a.csv", "1,dogs\nname,cats\n").contains("feature \"name\""));
        assertTrue(refused("a.txt", "1,dogs\n").contains("ends with .json or .csv"));
    }

    @Test
    void theLinkOfASaeLensFolderIsMadeOfItsNeuronpediaId() throws IOException {
        assertNull(FeatureLink.ofSaeLens(folder));
        Path config = folder.resolve("cfg.json");
        Files.writeString(config, "{\"metadata\": {\"neuronpedia_id\": \"gpt2-small/6-res-jb\"}}");
        assertEquals(
                "https://neuronpedia.org/gpt2-small/6-res-jb/17",
                FeatureLink.ofSaeLens(folder).of(17));
        Files.writeString(config, "{\"neuronpedia_id\": \"gpt2-small/6-res-jb\"}");
        assertEquals(
                "https://neuronpedia.org/gpt2-small/6-res-jb/3",
                FeatureLink.ofSaeLens(folder).of(3));
        for (String hostile : new String[] {"\"javascript:alert(1)\"", "\"a/../b c\"", "7", "null", "\"\""}) {
            Files.writeString(config, "{\"metadata\": {\"neuronpedia_id\": " + hostile + "}}");
            assertNull(FeatureLink.ofSaeLens(folder), hostile);
        }
    }

    @Test
    void aLinkIsAnAddressOfTheWebWithAPlaceForTheIndex() {
        assertEquals("https://a.b/f?i=12", new FeatureLink("https://a.b/f?i={feature}").of(12));
        for (String bad :
                new String[] {"https://a.b/f", "javascript:alert({feature})", "/f/{feature}", "https://{feature} x"}) {
            assertThrows(IllegalArgumentException.class, () -> new FeatureLink(bad), bad);
        }
    }

    private FeatureLabels read(String name, String text) throws IOException {
        return FeatureLabels.read(Files.writeString(folder.resolve(name), text), 20);
    }

    private String refused(String name, String text) {
        return String.valueOf(assertThrows(ExplainerFormatException.class, () -> read(name, text))
                .getMessage());
    }
}
