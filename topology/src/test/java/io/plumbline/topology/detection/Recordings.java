package io.plumbline.topology.detection;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads recorded activations: those of the demonstration, or a folder of longer ones. */
final class Recordings {

    private Recordings() {}

    /** One of the demonstration's files, in this folder from now on. */
    static Path unpack(Path folder, String name) {
        Path file = folder.resolve(name);
        try (InputStream resource = Recordings.class.getResourceAsStream("/io/plumbline/fixtures/" + name)) {
            if (!Files.exists(file)) {
                Files.copy(resource, file);
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The demonstration's explainer. */
    static Explainer explainer(Path folder) throws IOException {
        unpack(folder, "cfg.json");
        unpack(folder, "sae_weights.safetensors");
        return Formats.read(folder);
    }

    static List<ActivationBatch> requests(Path file) throws IOException {
        try (ActivationFile dump = ActivationFile.open(file)) {
            List<ActivationBatch> requests = new ArrayList<>();
            for (int i = 0; i < dump.requests(); i++) {
                requests.add(dump.request(i));
            }
            return requests;
        }
    }
}
