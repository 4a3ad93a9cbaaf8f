package io.plumbline.explainer.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.PublishedCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which names of folders say something about the files that lie in them. */
class PublishedPathTest {

    private static final ExplainerOptions SAE = new ExplainerOptions(Map.of("kind", "sae"));

    @TempDir
    Path scratch;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "embedding/mine",
                "embedding/layer_12/width_16k/average_l0_82",
                "embedding/gemma-scope-2b-pt-res/layer_12/width_16k/average_l0_82",
                "embedding/models--google--gemma-scope-2b-pt-res/snapshots/f00/layer_12/width_16k/average_l0_82",
                "embedding"
            })
    void aFolderOfTheUserIsNotThatOfTheEmbedding(String path) throws IOException {
        Explainer explainer = Formats.read(copy("gemma_scope_1_residual", path), SAE);
        assertEquals(decoder("gemma_scope_1_residual", SAE), explainer.decoder().sha256());
        assertTrue(explainer.origin().decidedByPath().isEmpty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "embedding/width_4k/average_l0_6",
                "gemma-scope-2b-pt-res/embedding/mine",
                "hub/models--google--gemma-scope-2b-pt-res/snapshots/f00/embedding/width_4k/average_l0_6"
            })
    void theFolderOfTheEmbeddingRescalesAndSaysSo(String path) throws IOException {
        ExplainerOptions none = ExplainerOptions.NONE;
        Explainer explainer = Formats.read(copy("gemma_scope_1_embedding", path), none);
        assertEquals(
                decoder("gemma_scope_1_embedding", none), explainer.decoder().sha256());
        String said = String.join("; ", explainer.origin().decidedByPath());
        assertTrue(said.contains("the folder \"embedding\" says that it reads the embedding"), said);
        assertTrue(said.contains("the folder \"embedding\" says that it is kind = sae"), said);
        assertTrue(explainer.origin().notes().containsAll(explainer.origin().decidedByPath()));
    }

    @Test
    void theRepositorysNameSaysWhetherItIsATranscoderAndOnlyIt() throws IOException {
        Path repository =
                copy("gemma_scope_1_residual", "my-transcoders/gemma-scope-2b-pt-res/layer_12/width_16k/average_l0_82");
        Explainer sae = Formats.read(repository);
        assertFalse(sae.isTranscoder());
        String said = sae.origin().decidedByPath().get(0);
        assertTrue(said.contains("\"gemma-scope-2b-pt-res\" says that it is kind = sae"), said);
        assertTrue(Formats.read(copy("gemma_scope_1_residual", "gemma-scope-2b-pt-transcoders/layer_12"))
                .isTranscoder());
        Path mine = copy("gemma_scope_1_residual", "transcoders/mine");
        assertThrows(ExplainerFormatException.class, () -> Formats.read(mine));
    }

    @Test
    void aSiteOfGemmaScope2IsReadFromTheRepositorysFolderAlone() throws IOException {
        Path sae = copy("gemma_scope_2_residual", "transcoder/work/resid_post/layer_9_width_16k_l0_small");
        Files.delete(sae.resolve("config.json"));
        Explainer read = Formats.read(sae);
        assertFalse(read.isTranscoder());
        assertTrue(read.origin().decidedByPath().get(0).contains("\"resid_post\""));
        Path transcoder = copy("gemma_scope_2_residual", "resid_post/gemma-scope-2-270m-pt/transcoder_all/mine");
        Files.delete(transcoder.resolve("config.json"));
        assertTrue(Formats.read(transcoder).isTranscoder());
        Path mine = copy("gemma_scope_2_residual", "transcoder/of/mine");
        Files.delete(mine.resolve("config.json"));
        assertThrows(ExplainerFormatException.class, () -> Formats.read(mine));
    }

    @Test
    void aCrosscoderIsToldByTheRepositorysFolderAlone() throws IOException {
        Path mine = copy(CrossLayerTest.folder("gemma_scope_2_crosscoder"), "crosscoder/of/mine");
        Files.delete(mine.resolve("config.json"));
        List<Explainer> blocks = Formats.readBlocks(mine, ExplainerOptions.NONE);
        assertFalse(blocks.get(0).architecture().contains("crosscoder"));
        String said = String.join("; ", blocks.get(0).origin().decidedByPath());
        assertTrue(said.contains("read as a cross-layer transcoder"), said);
    }

    private static String decoder(String published, ExplainerOptions options) throws IOException {
        return Formats.read(PublishedCase.named(published).explainer(), options)
                .decoder()
                .sha256();
    }

    private Path copy(String published, String to) throws IOException {
        return copy(PublishedCase.named(published).folder(), to);
    }

    private Path copy(Path published, String to) throws IOException {
        Path out = Files.createDirectories(scratch.resolve(to));
        try (Stream<Path> files = Files.walk(published.resolve("explainer"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, out.resolve(file.getFileName()));
            }
        }
        return out;
    }
}
