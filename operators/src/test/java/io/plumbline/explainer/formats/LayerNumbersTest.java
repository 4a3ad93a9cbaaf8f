package io.plumbline.explainer.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class LayerNumbersTest {

    @Test
    void layersGoByTheirNumberInTheModelWhereHooksSayIt() {
        assertEquals(
                List.of(5, 12), LayerNumbers.ofHooks(List.of("blocks.5.hook_mlp_out", "model.layers.12.mlp.3.output")));
        assertEquals(List.of(3, 4), LayerNumbers.ofHooks(List.of("model.layers.3", "model.layers.4")));
    }

    @Test
    void layersAreCountedWhereHooksAreOfOneLayerOrDoNotAscend() {
        assertEquals(
                List.of(0, 1), LayerNumbers.ofHooks(List.of("blocks.6.hook_resid_post", "blocks.6.hook_resid_post")));
        assertEquals(List.of(0, 1), LayerNumbers.ofHooks(List.of("blocks.6.a", "blocks.5.a")));
        assertEquals(List.of(0, 1), LayerNumbers.ofHooks(List.of("step_1000", "blocks.5.a")));
    }

    @Test
    void aHookOrAFolderNamesAsManyLayersAsThereAreOrNone() {
        String folder = "layer_7_13_17_width_65k_l0_big";
        assertEquals(List.of(5, 9, 12), LayerNumbers.ofHook("model.layers.{5,9,12}.output", 3));
        assertEquals(List.of(7, 13, 17), LayerNumbers.ofFolder(folder, 3));
        assertEquals(List.of(), LayerNumbers.ofHook("model.layers.{5,9,12}.output", 2));
        assertEquals(List.of(), LayerNumbers.ofHook("model.layers.{all}.output", 2));
        assertEquals(List.of(), LayerNumbers.ofFolder(folder, 2));
        assertEquals(List.of(), LayerNumbers.ofFolder("mine", 2));
    }

    @Test
    void consecutiveLayersAreSaidByTheFirstAndTheLast() {
        assertEquals("3 to 5", LayerNumbers.words(List.of(3, 4, 5)));
        assertEquals("5, 9, 12", LayerNumbers.words(List.of(5, 9, 12)));
    }
}
