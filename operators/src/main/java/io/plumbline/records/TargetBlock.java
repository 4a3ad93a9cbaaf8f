package io.plumbline.records;

import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorEntry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * One target layer of a cross-layer dictionary, and the layers whose rows its features are read from.
 *
 * <p>Records and dumps of such a site have a tensor {@code activations.S} for each layer that is read and {@code
 * targets.L} for each layer that is written. The rows of a block are the rows of its source layers, side by side in
 * their order; its targets are those of its own layer. A block that reproduces what it reads, as a crosscoder's, has
 * the rows {@code activations.L} of its own layer as its targets.
 *
 * @param target the layer that is written into
 * @param sources the layers that are read, in the order of their columns
 * @param reproduces whether the targets are the rows that are read in the target layer
 */
public record TargetBlock(int target, List<Integer> sources, boolean reproduces) {

    private static final Pattern LAYER = Pattern.compile("(activations|targets)\\.\\d+");

    private static final String ACTIVATIONS_OF = "activations.";
    private static final String TARGETS_OF = "targets.";

    public TargetBlock {
        sources = List.copyOf(sources);
        if (target < 0 || sources.isEmpty()) {
            throw new IllegalArgumentException("target %d of the layers %s".formatted(target, sources));
        }
    }

    /** Creates a block whose targets are rows of their own. */
    public TargetBlock(int target, List<Integer> sources) {
        this(target, sources, false);
    }

    /** Returns the names of the tensors with rows of layers, as a dump of a site with several targets has them. */
    static List<String> layersOf(Safetensors blob) {
        return blob.names().stream()
                .filter(name -> LAYER.matcher(name).matches())
                .toList();
    }

    /** Returns the name of the tensor with the targets: {@code targets.3}. */
    public String name() {
        return TARGETS_OF + target;
    }

    /**
     * Returns the tensors with the rows of the source layers.
     *
     * @throws ActivationBatchException where one is missing, or is not of the first one's rows and type
     */
    List<Tensor> sources(Safetensors blob) {
        List<Tensor> found = new ArrayList<>();
        for (int source : sources) {
            Tensor rows = ActivationTensors.matrix(require(blob, ACTIVATIONS_OF + source));
            Tensor first = found.isEmpty() ? rows : found.get(0);
            if (rows.size(0) != first.size(0) || rows.dtype() != first.dtype()) {
                throw new ActivationBatchException(
                        "tensor \"%s\": %s of %s, expected as many rows as \"%s\" has, %d, of %s"
                                .formatted(
                                        rows.name(),
                                        rows.shape(),
                                        rows.dtype(),
                                        first.name(),
                                        first.size(0),
                                        first.dtype()));
            }
            found.add(rows);
        }
        return found;
    }

    /**
     * Returns the tensor with the targets.
     *
     * @throws ActivationBatchException where it is missing, or is there beside the rows that are to be reproduced
     */
    Tensor target(Safetensors blob) {
        if (reproduces) {
            if (blob.contains(name())) {
                throw new ActivationBatchException(
                        "tensor \"%s\": a crosscoder reproduces the rows it reads, \"%s%d\"; leave it out"
                                .formatted(name(), ACTIVATIONS_OF, target));
            }
            return ActivationTensors.matrix(require(blob, ACTIVATIONS_OF + target));
        }
        return ActivationTensors.matrix(require(blob, name()));
    }

    private Tensor require(Safetensors blob, String name) {
        if (!blob.contains(name)) {
            throw new ActivationBatchException(("tensor \"%s\" is missing: a record has the rows of all layers, "
                            + "\"activations.S\" of those that are read and \"targets.L\" of those that are written; "
                            + "it has %s")
                    .formatted(name, blob.names()));
        }
        return blob.tensor(name);
    }

    /** Returns rows {@code from .. to-1} of matrices of one type, side by side. */
    static Tensor sideBySide(List<Tensor> parts, int from, int to) {
        Tensor first = parts.get(0);
        int width = parts.stream().mapToInt(part -> part.size(1)).sum();
        int rows = to - from;
        int bytes = Math.multiplyExact(
                Math.multiplyExact(rows, width), first.dtype().bytes());
        ByteBuffer joined = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int row = 0; row < rows; row++) {
            for (Tensor part : parts) {
                joined.put(part.rowBytes(from + row, from + row + 1));
            }
        }
        return new Tensor(
                new TensorEntry(
                        ActivationTensors.ACTIVATIONS,
                        first.dtype(),
                        List.of((long) rows, (long) width),
                        0,
                        joined.capacity(),
                        0),
                joined.flip());
    }
}
