package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Holds the classes that compute in float64 to those in float32, which they are generated from: only types, names and
 * the class comment differ. With {@code -Dplumbline.write.documents=true} it writes them anew; {@code spotless:apply}
 * then breaks their lines, of which this test takes no notice.
 */
class GeneratedDoublesTest {

    private static final Path SOURCES = Path.of("src/main/java/io/plumbline/linalg/kernel");

    @ParameterizedTest
    @CsvSource({
        "VectorFloatTiles, VectorDoubleTiles",
        "VectorFloatTileKernel, VectorTileKernel",
        "PlainFloatTileKernel, PlainTileKernel"
    })
    void theClassForDoublesIsTheOneForFloatsWithOtherTypes(String floats, String doubles) throws IOException {
        String expected = inDoubles(floats, doubles, Files.readString(SOURCES.resolve(floats + ".java")));
        Path file = SOURCES.resolve(doubles + ".java");
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(file, expected);
        } else {
            assertEquals(
                    unbroken(expected),
                    unbroken(Files.readString(file)),
                    () ->
                            "%s differs from %s; edit that one, run this test with -Dplumbline.write.documents=true, then spotless:apply"
                                    .formatted(doubles, floats));
        }
    }

    private static String inDoubles(String floats, String doubles, String source) {
        int comment = source.indexOf("/**");
        int afterComment = source.indexOf("*/", comment) + 2;
        String declaration = inDoubles(source.substring(afterComment));
        if (!declaration.contains("final class " + doubles + " ")) {
            throw new IllegalStateException("%s with other types declares no %s".formatted(floats, doubles));
        }
        return inDoubles(source.substring(0, comment))
                + "/** The twin of {@link %s} in float64; {@code GeneratedDoublesTest} makes it from that one. */"
                        .formatted(floats)
                + declaration;
    }

    private static String inDoubles(String source) {
        return source.replace("FloatTileKernel", "TileKernel")
                .replace("Float", "Double")
                .replace("float32", "float64")
                .replace("float", "double")
                .replaceAll("\\b0f\\b", "0.0");
    }

    /** Returns the source without what the formatter moves: spaces, line ends and the asterisks of comments. */
    private static String unbroken(String source) {
        return source.replaceAll("[\\s*]+", "");
    }
}
