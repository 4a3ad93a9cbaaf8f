package io.plumbline.topology.assessment;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads explainers, and logs a warning for each fact that the name of a folder decided: a copy of the same files
 * elsewhere may be read otherwise.
 */
public final class Explainers {

    private static final Logger LOG = LoggerFactory.getLogger(Explainers.class);

    private Explainers() {}

    /** Reads one as {@link Formats#read(Path, ExplainerOptions)} does. */
    public static Explainer read(Path path, ExplainerOptions options) throws IOException {
        Explainer explainer = Formats.read(path, options);
        warn(explainer);
        return explainer;
    }

    /** Reads all blocks of one as {@link Formats#readBlocks} does. */
    public static List<Explainer> readBlocks(Path path, ExplainerOptions options) throws IOException {
        List<Explainer> blocks = Formats.readBlocks(path, options);
        warn(blocks.get(0));
        return blocks;
    }

    private static void warn(Explainer explainer) {
        explainer
                .origin()
                .decidedByPath()
                .forEach(fact -> LOG.warn(
                        "a path decided what the explainer is: file={} reason={}",
                        Printable.value(explainer.origin().path()),
                        Printable.value(fact)));
    }
}
