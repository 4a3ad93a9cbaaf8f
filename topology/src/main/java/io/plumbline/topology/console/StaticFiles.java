package io.plumbline.topology.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Serves the page's files, read from the jar once: a fixed list, so that no path from outside chooses a file. */
final class StaticFiles {

    /** A file of the page. */
    record File(String contentType, byte[] bytes) {}

    private static final String HTML = "text/html; charset=utf-8";
    private static final String CSS = "text/css; charset=utf-8";
    private static final String SCRIPT = "text/javascript; charset=utf-8";

    static final List<String> NAMES = List.of(
            "index.html",
            "console.css",
            "icon.svg",
            "app.js",
            "feed.js",
            "dom.js",
            "format.js",
            "sites.js",
            "models.js",
            "watched.js",
            "answers.js",
            "overview.js",
            "sections.js",
            "site.js",
            "chart.js",
            "windows.js",
            "groups.js",
            "spectrum.js",
            "features.js",
            "breakdown.js",
            "decoders.js",
            "baselines.js",
            "statistics.js",
            "uplot/uPlot.esm.js",
            "uplot/uPlot.min.css",
            "uplot/LICENSE");

    private final Map<String, File> files = new HashMap<>();

    StaticFiles() {
        for (String name : NAMES) {
            files.put("/" + name, new File(contentType(name), read(name)));
        }
        files.put("/", files.getOrDefault("/index.html", new File(HTML, new byte[0])));
    }

    @Nullable
    File file(String path) {
        return files.get(path);
    }

    /** The bytes of one file of the jar. */
    static byte[] read(String name) {
        try (InputStream in = StaticFiles.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("%s is missing from the jar".formatted(name));
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String contentType(String name) {
        if (name.endsWith(".html")) {
            return HTML;
        }
        if (name.endsWith(".css")) {
            return CSS;
        }
        if (name.endsWith(".js")) {
            return SCRIPT;
        }
        return name.endsWith(".svg") ? "image/svg+xml" : "text/plain; charset=utf-8";
    }
}
