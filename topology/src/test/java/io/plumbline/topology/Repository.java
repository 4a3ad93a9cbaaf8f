package io.plumbline.topology;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The checkout that the tests run in, from whichever module. */
public final class Repository {

    /** The first folder of the checkout. */
    public static final Path ROOT = root();

    private Repository() {}

    /** Returns a file or folder of it. */
    public static Path path(String first, String... more) {
        return ROOT.resolve(Path.of(first, more));
    }

    /**
     * Returns a page with a table in it that a test writes, between {@code <!-- NAME: written by TEST -->} and {@code
     * <!-- end -->}.
     */
    public static String withTable(String page, String name, Class<?> test, String table) {
        String begin = "<!-- %s: written by %s -->\n".formatted(name, test.getSimpleName());
        int before = page.indexOf(begin);
        int end = before < 0 ? -1 : page.indexOf("<!-- end -->", before);
        if (end < 0) {
            throw new IllegalArgumentException("the page has no place for this table: write where it belongs\n\n%s%s"
                    .formatted(begin, "<!-- end -->"));
        }
        return page.substring(0, before + begin.length()) + table + page.substring(end);
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "these tests run within a checkout");
        }
        return folder;
    }
}
