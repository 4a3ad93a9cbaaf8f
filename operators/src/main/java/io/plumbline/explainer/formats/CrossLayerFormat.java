package io.plumbline.explainer.formats;

import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A format of dictionaries with a file for each layer, see {@link CrossLayer}. */
abstract class CrossLayerFormat extends BlocksFormat {

    /** The files of the layers, the number of the layer as their first group. */
    abstract Pattern layerFile();

    /** The name of the file of a layer. */
    abstract String fileOf(int layer);

    /** Opens what is known to be {@code layers} layers, and puts every opened file into {@code opened}. */
    abstract CrossLayer open(ExplainerFiles files, int layers, Map<String, Safetensors> opened) throws IOException;

    @Override
    public final boolean recognises(ExplainerFiles files) {
        return !files.matching(layerFile()).isEmpty();
    }

    @Override
    final Blocks open(ExplainerFiles files, Map<String, Safetensors> opened) throws IOException {
        return open(files, count(files), opened);
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
                throw new ExplainerFormatException(("%s is missing from a dictionary of several layers: "
                                + "the features of all layers below write into layer %d; "
                                + "save the files of all layers into one folder")
                        .formatted(fileOf(layer), found.last()));
            }
        }
        return found.last() + 1;
    }
}
