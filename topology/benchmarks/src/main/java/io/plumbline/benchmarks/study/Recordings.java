package io.plumbline.benchmarks.study;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.fixtures.TemporaryFolder;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.toy.CorrelatedStream;
import io.plumbline.toy.ToyStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Requests of one model and its explainer.
 *
 * @param rank that the gap is measured at
 * @param fitted clean requests that everything is fitted on
 * @param usual later requests of the same traffic
 * @param foreign requests of other traffic, by its name
 */
record Recordings(
        Explainer explainer,
        int rank,
        List<ActivationBatch> fitted,
        List<ActivationBatch> usual,
        Map<String, List<ActivationBatch>> foreign) {

    private static final int RANK = 32;
    private static final String SUFFIX = ".safetensors";
    private static final int CLEAN_TOY_WINDOWS = 99;
    private static final int TOY_WINDOWS = 60;
    private static final List<String> FILES =
            List.of("cfg.json", "sae_weights.safetensors", "english.safetensors", "german.safetensors");

    /** Returns the program's own: half of the English is fitted on. */
    static Recordings own() throws IOException {
        try (TemporaryFolder folder = TemporaryFolder.create("plumbline-study-")) {
            for (String name : FILES) {
                try (InputStream in = EmbeddedBroker.class.getResourceAsStream(name)) {
                    if (in == null) {
                        throw new IllegalStateException("%s is missing from the jar".formatted(name));
                    }
                    Files.copy(in, folder.root().resolve(name));
                }
            }
            List<ActivationBatch> english = requests(folder.root().resolve("english.safetensors"));
            int half = english.size() / 2;
            return new Recordings(
                    Formats.read(folder.root()),
                    RANK,
                    english.subList(0, half),
                    english.subList(half, english.size()),
                    Map.of("German", requests(folder.root().resolve("german.safetensors"))));
        }
    }

    /**
     * Returns those of a folder with {@code explainer/} and {@code activations/}: {@code en_baseline} is fitted on,
     * {@code en} is usual, and every file whose name does not begin with {@code en} is other traffic.
     */
    static Recordings of(Path folder) throws IOException {
        Path activations = folder.resolve("activations");
        Map<String, List<ActivationBatch>> foreign = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(activations)) {
            List<String> kinds = files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(SUFFIX) && !name.startsWith("en"))
                    .map(name -> name.substring(0, name.length() - SUFFIX.length()))
                    .sorted(Comparator.reverseOrder())
                    .toList();
            for (String kind : kinds) {
                foreign.put(
                        kind.equals("de") ? "German" : kind.replace('_', ' '),
                        requests(activations.resolve(kind + SUFFIX)));
            }
        }
        return new Recordings(
                Formats.read(folder.resolve("explainer")),
                RANK,
                requests(activations.resolve("en_baseline.safetensors")),
                requests(activations.resolve("en.safetensors")),
                foreign);
    }

    /** Returns requests of the toy, whose rows are alike at .9 and all shift with the severity. */
    static Recordings toy() {
        CorrelatedStream stream = new CorrelatedStream(0.9, 512);
        Map<String, List<ActivationBatch>> foreign = new LinkedHashMap<>();
        for (int severity : new int[] {10, 5, 3}) {
            foreign.put("severity " + severity / 10.0, stream.requests(5, TOY_WINDOWS, severity));
        }
        return new Recordings(
                stream.watched(),
                ToyStream.RANK,
                stream.requests(2, CLEAN_TOY_WINDOWS, 0),
                stream.requests(3, TOY_WINDOWS, 0),
                foreign);
    }

    private static List<ActivationBatch> requests(Path file) throws IOException {
        try (ActivationFile recorded = ActivationFile.open(file)) {
            return IntStream.range(0, recorded.requests())
                    .mapToObj(recorded::request)
                    .toList();
        }
    }
}
