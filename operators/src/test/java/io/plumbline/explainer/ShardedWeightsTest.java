package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.formats.Formats;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests weights that lie in several files, and links to files that are gone. */
class ShardedWeightsTest {

    private static final String WHOLE = "sae_weights.safetensors";

    @TempDir
    Path folder;

    private Path published = Path.of("");

    @BeforeEach
    void copy() throws IOException {
        published = PublishedCase.named("saelens_jumprelu").explainer();
        try (Stream<Path> files = Files.list(published)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"model", "sae_weights"})
    void shardsAreReadAndAdaptedAsTheWholeIs(String name) throws IOException {
        shard(name, 0);
        Explainer whole = Formats.read(published);
        for (Path path : List.of(folder, folder.resolve("cfg.json"))) {
            Explainer shards = Formats.read(path);
            assertEquals(whole.decoder().sha256(), shards.decoder().sha256());
            assertEquals(Formats.shape(published, ExplainerOptions.NONE), Formats.shape(path, ExplainerOptions.NONE));
        }
        Path out = folder.resolve("adapted");
        Formats.writeAdapted(Formats.read(folder), whole.decoder(), DType.F32, Map.of(), out);
        assertTrue(Files.isRegularFile(out.resolve(WHOLE)));
        assertEquals(whole.decoder().sha256(), Formats.read(out).decoder().sha256());
    }

    @Test
    void oneOfTheShardsOrTheirIndexMayBePointedAt() throws IOException {
        shard("sae_weights", 0);
        String sha256 = Formats.read(published).decoder().sha256();
        for (String name : List.of("sae_weights-00002-of-00002.safetensors", WHOLE + ".index.json")) {
            assertEquals(sha256, Formats.read(folder.resolve(name)).decoder().sha256());
        }
    }

    @Test
    void whatIsMissingOfTheShardsIsNamed() throws IOException {
        shard("model", 0);
        Path second = folder.resolve("model-00002-of-00002.safetensors");
        byte[] kept = Files.readAllBytes(second);
        Files.delete(second);
        assertRefused("model-00002-of-00002.safetensors is missing, one of the files of its tensors");
        Files.write(second, Files.readAllBytes(folder.resolve("model-00001-of-00002.safetensors")));
        assertRefused("which the index says is in model-00001-of-00002.safetensors");
        Files.write(second, kept);
        Files.delete(folder.resolve("model.safetensors.index.json"));
        assertRefused("sae_weights.safetensors is missing, and so is the index of model-00001-of-00002.safetensors");
        shard("model", 4);
        assertRefused("total_size says");
    }

    @Test
    void aLinkWhoseFileIsGoneIsSaidToBeOne() throws IOException {
        for (String name : List.of(WHOLE, "cfg.json")) {
            byte[] kept = Files.readAllBytes(folder.resolve(name));
            Files.delete(folder.resolve(name));
            Files.createSymbolicLink(folder.resolve(name), Path.of("../../blobs/f00"));
            assertRefused(name + " is a link to ../../blobs/f00, which is gone; download the file again");
            Files.delete(folder.resolve(name));
            Files.write(folder.resolve(name), kept);
        }
        Path gone = Files.createSymbolicLink(folder.resolve("gone"), Path.of("nowhere"));
        String message = assertThrows(ExplainerFormatException.class, () -> Formats.read(gone))
                .getMessage();
        assertTrue(String.valueOf(message).contains("is a link to nowhere"), message);
    }

    private void assertRefused(String words) {
        String message = assertThrows(ExplainerFormatException.class, () -> Formats.read(folder))
                .getMessage();
        assertTrue(String.valueOf(message).contains(words), message);
    }

    /** Puts every other tensor into a file of its own, with an index that is wrong by some bytes. */
    private void shard(String name, int wrongBytes) throws IOException {
        List<SafetensorsWriter> shards = List.of(SafetensorsWriter.create(), SafetensorsWriter.create());
        List<String> lines = new ArrayList<>();
        long bytes = wrongBytes;
        try (Safetensors all = Safetensors.open(published.resolve(WHOLE))) {
            int at = 0;
            for (String tensor : all.names()) {
                Tensor read = all.tensor(tensor);
                shards.get(at % 2)
                        .addRaw(
                                tensor,
                                read.dtype(),
                                read.shape().stream().mapToLong(Long::longValue).toArray(),
                                read.bytes());
                lines.add("\"%s\": \"%s-%05d-of-00002.safetensors\"".formatted(tensor, name, at % 2 + 1));
                bytes += read.bytes().remaining();
                at++;
            }
            for (int i = 0; i < 2; i++) {
                Path file = folder.resolve("%s-%05d-of-00002.safetensors".formatted(name, i + 1));
                Files.deleteIfExists(file);
                shards.get(i).writeTo(file);
            }
        }
        Files.deleteIfExists(folder.resolve(WHOLE));
        Files.writeString(
                folder.resolve(name + ".safetensors.index.json"),
                "{\"metadata\": {\"total_size\": %d}, \"weight_map\": {%s}}"
                        .formatted(bytes, String.join(", ", lines)));
    }
}
