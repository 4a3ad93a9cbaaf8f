package io.plumbline.topology;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.records.ActivationFile;
import io.plumbline.records.TargetBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Makes the baselines of an explainer with several targets from the dump beside it. */
final class BlockBaselines {

    private BlockBaselines() {}

    /** Writes a file for each block, of rank 4, into a new folder. */
    static void write(Path ofCase, Path folder) throws IOException {
        Files.createDirectory(folder);
        for (Explainer block : Formats.readBlocks(ofCase.resolve("explainer"), ExplainerOptions.NONE)) {
            BaselineBuilder builder = BaselineBuilder.of(block, List.of(4), List.of());
            TargetBlock target = Objects.requireNonNull(block.block());
            try (ActivationFile dump = ActivationFile.openBlock(ofCase.resolve("blocks.safetensors"), target)) {
                builder.add(dump.request(0));
            }
            builder.build().write(folder.resolve(target.name() + ".safetensors"));
        }
    }
}
