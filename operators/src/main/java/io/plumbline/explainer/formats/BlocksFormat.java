package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.Origin;
import io.plumbline.wire.DType;
import io.plumbline.wire.HeapNeeded;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.TensorFileException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A format of dictionaries that write into several layers; each of their {@link Blocks} is an explainer. */
abstract class BlocksFormat implements ExplainerFormat {

    /** Opens the files, puts each into {@code opened} by its name, and checks that they fit together. */
    abstract Blocks open(ExplainerFiles files, Map<String, Safetensors> opened) throws IOException;

    @Override
    public final ExplainerShape shape(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, set -> set.shape(target(set, options)));
    }

    @Override
    public final Explainer read(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, set -> explainers(files, options, set, List.of(target(set, options))))
                .get(0);
    }

    @Override
    public final List<Explainer> readBlocks(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(
                files,
                options,
                set -> explainers(
                        files, options, set, options.target() == null ? set.targets() : List.of(target(set, options))));
    }

    @Override
    public final List<Integer> targets(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, Blocks::targets);
    }

    @Override
    public final void writeAdapted(
            Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        writeAdapted(List.of(original), List.of(adapted), dtype, lineage, outDirectory);
    }

    @Override
    public final void writeAdapted(
            List<Explainer> originals,
            List<Decoder> adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory)
            throws IOException {
        ExplainerFiles files = ExplainerFiles.of(originals.get(0).origin().path());
        with(files, originals.get(0).origin().options(), set -> {
            set.write(originals, adapted, dtype, lineage, outDirectory);
            return outDirectory;
        });
    }

    private List<Explainer> explainers(
            ExplainerFiles files, ExplainerOptions options, Blocks set, List<Integer> targets) {
        List<Explainer> explainers = new ArrayList<>();
        for (Blocks.Block block : read(set, targets)) {
            ExplainerOptions itself = options.ofTarget(block.place().target());
            explainers.add(new Explainer(
                    block.architecture(),
                    block.encoder(),
                    block.decoder(),
                    block.space(),
                    new Origin(
                            facts().name(),
                            files.path(),
                            itself,
                            Stream.concat(block.notes().stream(), set.decidedByPath().stream())
                                    .toList(),
                            set.decidedByPath(),
                            block.notRefitted()),
                    block.place()));
        }
        return explainers;
    }

    /** Reads blocks where the heap holds the weights of the largest of them. */
    private static List<Blocks.Block> read(Blocks set, List<Integer> targets) {
        ExplainerShape largest = targets.stream()
                .map(set::shape)
                .max(Comparator.comparingLong(ExplainerShape::floatBytes))
                .orElseThrow();
        String what = "a %s of %d features".formatted(set.kind(), largest.features());
        HeapNeeded.require(what, largest.floatBytes());
        try {
            return set.read(targets);
        } catch (OutOfMemoryError small) {
            throw new ExplainerFormatException(HeapNeeded.refusal(what, largest.weightBytes()), small);
        }
    }

    private static int target(Blocks set, ExplainerOptions options) {
        Integer target = options.target();
        if (target == null) {
            throw new ExplainerFormatException(
                    ("a %s, which writes into the layers %s: each is a block to watch by itself; give one with %s, "
                                    + "or watch several with targets: %s beside the explainer")
                            .formatted(
                                    set.kind(),
                                    LayerNumbers.words(set.targets()),
                                    ExplainerOptions.howTo(ExplainerOptions.TARGET, "L"),
                                    set.targets()
                                            .subList(
                                                    0, Math.min(2, set.targets().size()))));
        }
        if (!set.targets().contains(target)) {
            throw new ExplainerFormatException("option target = %d: expected a layer from %s"
                    .formatted(target, LayerNumbers.words(set.targets())));
        }
        return target;
    }

    private interface Step<T> {
        T of(Blocks set) throws IOException;
    }

    private <T> T with(ExplainerFiles files, ExplainerOptions options, Step<T> step) throws IOException {
        try {
            options.requireOnly(facts().name(), ExplainerOptions.TARGET);
            Map<String, Safetensors> opened = new LinkedHashMap<>();
            try {
                return step.of(open(files, opened));
            } finally {
                for (Safetensors file : opened.values()) {
                    file.close();
                }
            }
        } catch (SafetensorsException | TensorFileException | ExplainerFormatException e) {
            throw PublishedFormat.named(files, e);
        }
    }

    /** Opens a file once. */
    static Safetensors open(ExplainerFiles files, String name, Map<String, Safetensors> opened) throws IOException {
        Safetensors file = SafetensorsFiles.open(files.file(name));
        opened.put(name, file);
        return file;
    }
}
