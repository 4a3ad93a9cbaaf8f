package io.plumbline.records;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorEntry;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tensors of a batch or a dump, checked against each other before a value is converted.
 *
 * @param sources what the encoder reads: the rows of one layer, or of several that lie side by side
 */
record ActivationTensors(
        List<Tensor> sources,
        @Nullable Tensor targets,
        @Nullable Tensor reconstructions,
        @Nullable GivenCodes codes,
        @Nullable Tensor tokenIds) {

    static final String ACTIVATIONS = "activations";
    static final String HIDDEN_STATES = "hidden_states";
    static final String TARGETS = "targets";
    static final String RECONSTRUCTIONS = "reconstructions";
    static final String TOKEN_IDS = "token_ids";

    /** Reads the rows of all layers of a dump of a site with several targets, to be sent on as they are. */
    static ActivationTensors ofLayers(Safetensors blob) {
        List<Tensor> layers = TargetBlock.layersOf(blob).stream()
                .map(name -> matrix(blob.tensor(name)))
                .toList();
        for (Tensor layer : layers) {
            if (layer.size(0) != layers.get(0).size(0)) {
                throw wrong(layer, "shape " + layer.shape(), layers.get(0).size(0) + " rows, as the other layers");
            }
        }
        return of(blob, layers, null, false);
    }

    /** @param block the target that is read, and the layers whose rows are read */
    static ActivationTensors ofBlock(Safetensors blob, TargetBlock block) {
        List<Tensor> sources = block.sources(blob);
        return of(blob, sources, block.target(blob), false);
    }

    /** @param layers which layers {@code hidden_states} of three dimensions hold; null: they are refused */
    static ActivationTensors of(Safetensors blob, @Nullable HiddenLayers layers) {
        Tensor states = blob.tensor(nameOfActivations(blob));
        boolean stacked = false;
        if (layers != null && states.shape().size() == 3) {
            states = rowsOf(blob, states, layers);
            stacked = true;
        }
        return of(blob, List.of(matrix(states)), blob.contains(TARGETS) ? matrix(blob.tensor(TARGETS)) : null, stacked);
    }

    private static ActivationTensors of(
            Safetensors blob, List<Tensor> sources, @Nullable Tensor targets, boolean stacked) {
        int rows = sources.get(0).size(0);
        if (targets != null && targets.size(0) != rows) {
            throw wrong(
                    targets, "shape " + targets.shape(), "[" + rows + ", d_out], a row for each of the activations");
        }
        Tensor given = blob.contains(RECONSTRUCTIONS) ? matrix(blob.tensor(RECONSTRUCTIONS)) : null;
        Tensor reproduced = targets == null ? sources.get(0) : targets;
        if (given != null && !given.shape().equals(reproduced.shape())) {
            throw wrong(given, "shape " + given.shape(), reproduced.shape() + ", as what is reconstructed");
        }
        Tensor tokenIds = blob.contains(TOKEN_IDS) ? blob.tensor(TOKEN_IDS) : null;
        if (tokenIds != null) {
            tokenIds = stacked ? idsOfLast(tokenIds, rows) : tokenIds;
            requireIds(tokenIds, rows);
        }
        return new ActivationTensors(
                sources, targets, given, given == null ? null : GivenCodes.of(blob, rows), tokenIds);
    }

    private static Tensor rowsOf(Safetensors blob, Tensor states, HiddenLayers layers) {
        if (states.size(0) < 1 || states.size(1) < 1 || states.size(2) < 1) {
            throw new EmptyBatchException("tensor \"%s\": shape %s, expected three dimensions of at least 1"
                    .formatted(states.name(), states.shape()));
        }
        Tensor ids = blob.contains(TOKEN_IDS) ? blob.tensor(TOKEN_IDS) : null;
        return layers.rowsOf(states, ids == null || ids.shape().size() != 1 ? null : Integer.valueOf(ids.size(0)));
    }

    /**
     * Returns the ids of the last tokens: an engine with a prefix cache hands out the rows of those and the ids of all.
     */
    private static Tensor idsOfLast(Tensor tokenIds, int rows) {
        if (tokenIds.shape().size() != 1 || tokenIds.size(0) <= rows) {
            return tokenIds;
        }
        ByteBuffer last = tokenIds.rowBytes(tokenIds.size(0) - rows, tokenIds.size(0));
        TensorEntry entry =
                new TensorEntry(tokenIds.name(), tokenIds.dtype(), List.of((long) rows), 0, last.remaining(), 0);
        return new Tensor(entry, last);
    }

    int rowCount() {
        return sources.get(0).size(0);
    }

    /** Returns how wide the rows are that the encoder reads. */
    int inputWidth() {
        return sources.stream().mapToInt(source -> source.size(1)).sum();
    }

    /** Returns what the encoder reads; copied where the rows are of several layers. */
    Tensor activations() {
        return sources.size() == 1 ? sources.get(0) : TargetBlock.sideBySide(sources, 0, rowCount());
    }

    ActivationBatch rows(int from, int to) {
        return new ActivationBatch(
                sources.size() == 1
                        ? sources.get(0).rows(from, to)
                        : TargetBlock.sideBySide(sources, from, to).toMatrix(),
                targets == null ? null : targets.rows(from, to),
                tokenIds == null ? null : tokenIds.longs(from, to));
    }

    /**
     * Returns reconstructions in the place of activations, and what they are of as targets.
     *
     * @param features of the codes behind each reconstruction; 0: none
     */
    ActivationBatch given(int from, int to, int features) {
        Tensor reproduced = targets == null ? sources.get(0) : targets;
        Matrix rows =
                Objects.requireNonNull(reconstructions, "no reconstructions").rows(from, to);
        return new ActivationBatch(
                features == 0 ? rows : withCodes(rows, from, features),
                reproduced.rows(from, to),
                tokenIds == null ? null : tokenIds.longs(from, to));
    }

    private Matrix withCodes(Matrix rows, int from, int features) {
        GivenCodes given = Objects.requireNonNull(codes, "no codes");
        int width = rows.columns() + GivenCodes.WIDTH;
        Matrix wider = Matrix.zeros(rows.rows(), width);
        for (int row = 0; row < rows.rows(); row++) {
            System.arraycopy(rows.values(), row * rows.columns(), wider.values(), row * width, rows.columns());
            given.copy(from + row, features, wider.values(), row * width + rows.columns());
        }
        return wider;
    }

    private static String nameOfActivations(Safetensors blob) {
        boolean own = blob.contains(ACTIVATIONS);
        if (own && blob.contains(HIDDEN_STATES)) {
            throw new ActivationBatchException(
                    "the blob has both \"activations\" and \"hidden_states\"; expected one of them");
        }
        if (!own && !blob.contains(HIDDEN_STATES)) {
            throw new ActivationBatchException("tensor \"activations\" is missing; the blob has " + blob.names());
        }
        return own ? ACTIVATIONS : HIDDEN_STATES;
    }

    static Tensor matrix(Tensor tensor) {
        if (!tensor.dtype().isFloatingPoint()) {
            throw wrong(tensor, "dtype " + tensor.dtype(), "F64, F32, F16 or BF16");
        }
        List<Long> shape = tensor.shape();
        if (shape.size() == 2 && (shape.get(0) < 1 || shape.get(1) < 1)) {
            throw new EmptyBatchException(
                    "tensor \"%s\": shape %s, expected [rows, width], both at least 1".formatted(tensor.name(), shape));
        }
        if (shape.size() != 2) {
            throw wrong(tensor, "shape " + shape, "[rows, width], both at least 1");
        }
        return tensor;
    }

    private static void requireIds(Tensor tokenIds, int rows) {
        if (tokenIds.dtype().isFloatingPoint()) {
            throw wrong(tokenIds, "dtype " + tokenIds.dtype(), "I64 or I32");
        }
        if (!tokenIds.shape().equals(List.of((long) rows))) {
            throw wrong(tokenIds, "shape " + tokenIds.shape(), "[" + rows + "], one for each row of the activations");
        }
    }

    private static ActivationBatchException wrong(Tensor tensor, String found, String expected) {
        return new ActivationBatchException("tensor \"%s\": %s, expected %s".formatted(tensor.name(), found, expected));
    }
}
