package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SubspaceCacheTest {

    private static final Decoder DECODER = decoder(1);

    private final List<String> log = new ArrayList<>();

    @TempDir
    Path folder;

    @Test
    void whatWasKeptIsReadAgainToTheLastBitAtAnyRank() throws IOException {
        ExplainerSubspace made = kept(DECODER, 2);
        assertEquals(2, log.size(), log::toString);
        log.clear();
        ExplainerSubspace read = kept(DECODER, 3);
        assertEquals(List.of(), log);
        assertArrayEquals(made.singularValues(), read.singularValues());
        assertEquals(made.leftVectors(), read.leftVectors());
        assertEquals(made.decoderRank(), read.decoderRank());
        assertEquals(3, read.rank());
        assertEquals(List.of(SubspaceCache.FILE), names(), "nothing is left beside it");
    }

    @Test
    void aDamagedOrCutFileIsMadeAnewWithOneLine() throws IOException {
        ExplainerSubspace made = kept(DECODER, 2);
        byte[] whole = Files.readAllBytes(file());
        byte[] damaged = whole.clone();
        damaged[damaged.length - 3] ^= 1;
        for (byte[] wrong : List.of(damaged, Arrays.copyOf(whole, whole.length / 2), new byte[0])) {
            Files.write(file(), wrong);
            log.clear();
            assertEquals(made.leftVectors(), kept(DECODER, 2).leftVectors());
            assertEquals(
                    1,
                    log.stream().filter(line -> line.contains("is made anew")).count(),
                    log::toString);
            assertArrayEquals(whole, Files.readAllBytes(file()));
        }
    }

    @Test
    void anotherLayoutAndOtherShapesAreSaidAndReplaced() throws IOException {
        SafetensorsWriter.create().metadata("layout", "plumbline-subspace-3").writeTo(file());
        ExplainerSubspace made = kept(DECODER, 2);
        assertTrue(
                log.get(0).contains("its layout is plumbline-subspace-3, expected plumbline-subspace-1"),
                log::toString);
        log.clear();
        SafetensorsWriter.create()
                .metadata("layout", "plumbline-subspace-1")
                .metadata("decoder_sha256", DECODER.sha256())
                .addVector("singular_values", DType.F64, made.singularValues())
                .add("left_vectors", DType.F64, made.leftVectors().leadingColumns(5))
                .writeTo(file());
        assertEquals(made.leftVectors(), kept(DECODER, 2).leftVectors());
        assertTrue(log.get(0).contains("\"left_vectors\" has shape [6, 5], expected [6, 6]"), log::toString);
    }

    @Test
    void theFileOfAnotherDecoderIsReplaced() throws IOException {
        kept(DECODER, 2);
        log.clear();
        Decoder other = decoder(2);
        assertEquals(
                ExplainerSubspace.of(other, 2).leftVectors(), kept(other, 2).leftVectors());
        assertTrue(log.get(0).contains("it is of the decoder " + DECODER.sha256()), log::toString);
        log.clear();
        kept(other, 2);
        assertEquals(List.of(), log);
    }

    @Test
    void aFolderThatCannotBeWrittenToCostsTimeAndNothingElse() {
        Path nowhere = folder.resolve("gone");
        ExplainerSubspace made = SubspaceCache.kept(nowhere, DECODER, DECODER.sha256(), 2, log::add);
        assertEquals(ExplainerSubspace.of(DECODER, 2).leftVectors(), made.leftVectors());
        assertTrue(log.get(1).contains("not kept, so the next start takes as long"), log::toString);
    }

    @Test
    void aSmallDecoderLeavesNoFile() throws IOException {
        SubspaceCache.of(folder, DECODER, DECODER.sha256(), 2, log::add);
        assertFalse(Files.exists(file()));
        assertEquals(List.of(), log);
    }

    private ExplainerSubspace kept(Decoder decoder, int rank) {
        return SubspaceCache.kept(folder, decoder, decoder.sha256(), rank, log::add);
    }

    private Path file() {
        return folder.resolve(SubspaceCache.FILE);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString()).toList();
        }
    }

    private static Decoder decoder(long seed) {
        double[] weights = new SplittableRandom(seed).doubles(40 * 6, -1, 1).toArray();
        return new Decoder(new Matrix(40, 6, weights), new double[6]);
    }
}
