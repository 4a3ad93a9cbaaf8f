package io.plumbline.explainer;

import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** A format of cross-layer transcoders, whose blocks are explainers of their own; see {@link CrossLayer}. */
abstract class CrossLayerFormat implements ExplainerFormat {

    /** The files of the layers, the number of the layer as their first group. */
    abstract Pattern layerFile();

    /** The name of the file of a layer. */
    abstract String fileOf(int layer);

    /** Opens what is known to be {@code layers} layers, and puts every opened file into {@code opened}. */
    abstract List<CrossLayer.Layer> layers(ExplainerFiles files, int layers, Map<String, Safetensors> opened)
            throws IOException;

    @Override
    public final boolean recognises(ExplainerFiles files) {
        return !files.matching(layerFile()).isEmpty();
    }

    @Override
    public final ExplainerShape shape(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, set -> set.shape(target(set, options)));
    }

    @Override
    public final Explainer read(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, set -> {
            int target = target(set, options);
            return block(files, options, set, target, set.encoders(target));
        });
    }

    @Override
    public final List<Explainer> readBlocks(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, set -> {
            List<Integer> targets = options.target() == null ? targets(set) : List.of(target(set, options));
            List<Encoder> encoders = set.encoders(targets.get(targets.size() - 1));
            List<Explainer> blocks = new ArrayList<>();
            for (int target : targets) {
                blocks.add(block(files, options.ofTarget(target), set, target, encoders.subList(0, target + 1)));
            }
            return blocks;
        });
    }

    @Override
    public final List<Integer> targets(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return with(files, options, CrossLayerFormat::targets);
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
            CrossLayerExport.write(set, originals, adapted, dtype, lineage, outDirectory);
            return outDirectory;
        });
    }

    private Explainer block(
            ExplainerFiles files, ExplainerOptions options, CrossLayer set, int target, List<Encoder> encoders) {
        return new Explainer(
                set.architecture(),
                new SideBySideEncoder(encoders),
                set.decoder(target),
                set.space(target),
                new Origin(facts().name(), files.path(), options, set.notes(target), null),
                CrossLayer.block(target));
    }

    private static List<Integer> targets(CrossLayer set) {
        return IntStream.range(0, set.layers().size()).boxed().toList();
    }

    private static int target(CrossLayer set, ExplainerOptions options) {
        Integer target = options.target();
        int last = set.layers().size() - 1;
        if (target == null) {
            throw new ExplainerFormatException(
                    "a cross-layer transcoder, which writes into the layers 0 to %d: each is a block to watch by itself; give one with %s, or watch several with targets: [0, 1] beside the explainer"
                            .formatted(last, ExplainerOptions.howTo(ExplainerOptions.TARGET, "L")));
        }
        if (target > last) {
            throw new ExplainerFormatException(
                    "option target = %d: expected a layer from 0 to %d".formatted(target, last));
        }
        return target;
    }

    private interface Step<T> {
        T of(CrossLayer set) throws IOException;
    }

    private <T> T with(ExplainerFiles files, ExplainerOptions options, Step<T> step) throws IOException {
        try {
            options.requireOnly(facts().name(), ExplainerOptions.TARGET);
            int layers = count(files);
            Map<String, Safetensors> opened = new LinkedHashMap<>();
            try {
                return step.of(new CrossLayer(opened, layers(files, layers, opened)));
            } finally {
                for (Safetensors file : opened.values()) {
                    file.close();
                }
            }
        } catch (SafetensorsException | ExplainerFormatException e) {
            throw PublishedFormat.named(files, e);
        }
    }

    /** Returns how many layers there are; none may be missing. */
    private int count(ExplainerFiles files) {
        TreeSet<Integer> found = new TreeSet<>();
        for (String name : files.names()) {
            Matcher matcher = layerFile().matcher(name);
            if (matcher.matches()) {
                found.add(Integer.valueOf(matcher.group(1)));
            }
        }
        for (int layer = 0; layer < found.last(); layer++) {
            if (!found.contains(layer)) {
                throw new ExplainerFormatException(
                        "a cross-layer transcoder of which %s is missing: the features of all layers below write into layer %d; save the files of all layers into one folder"
                                .formatted(fileOf(layer), found.last()));
            }
        }
        return found.last() + 1;
    }

    /** Opens a file once. */
    static Safetensors open(ExplainerFiles files, String name, Map<String, Safetensors> opened) throws IOException {
        Safetensors file = SafetensorsFiles.open(files.file(name));
        opened.put(name, file);
        return file;
    }
}
