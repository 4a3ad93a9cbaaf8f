package io.plumbline.demo;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.fixtures.TemporaryFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A private temporary folder with the recorded data; nothing of it is left behind when it is closed. */
final class DemoFolder implements AutoCloseable {

    private final TemporaryFolder folder;

    private DemoFolder(TemporaryFolder folder) {
        this.folder = folder;
    }

    static DemoFolder unpack() throws IOException {
        DemoFolder folder = new DemoFolder(TemporaryFolder.create("plumbline-demo-"));
        try {
            Files.createDirectory(folder.explainer());
            folder.copy("cfg.json", folder.explainer());
            folder.copy("sae_weights.safetensors", folder.explainer());
            folder.copy("baseline.safetensors", folder.root());
            folder.copy("english.safetensors", folder.root());
            folder.copy("german.safetensors", folder.root());
            return folder;
        } catch (IOException e) {
            folder.close();
            throw e;
        }
    }

    Path root() {
        return folder.root();
    }

    Path explainer() {
        return root().resolve("explainer");
    }

    Path broker() {
        return root().resolve("broker");
    }

    /** Returns the configuration with the places filled in that are only known now. */
    static String configuration(Path root, String bootstrapServers) throws IOException {
        try (InputStream in = resource(DemoFolder.class, "demo.yaml")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("@BOOTSTRAP@", bootstrapServers)
                    .replace("@FOLDER@", root.toString().replace("\\", "\\\\"));
        }
    }

    private void copy(String name, Path folder) throws IOException {
        try (InputStream in = resource(EmbeddedBroker.class, name)) {
            Files.copy(in, folder.resolve(name));
        }
    }

    /** Opens a file that stands beside a class. */
    private static InputStream resource(Class<?> beside, String name) {
        InputStream in = beside.getResourceAsStream(name);
        if (in == null) {
            throw new IllegalStateException("%s is missing from the jar".formatted(name));
        }
        return in;
    }

    @Override
    public void close() {
        folder.close();
    }
}
