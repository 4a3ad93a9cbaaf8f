package io.plumbline.records;

import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorEntry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Says which layers a serving engine hands out in one tensor {@code hidden_states} of three dimensions, and which of
 * them a site reads.
 *
 * <p>Engines disagree about the axes: vLLM writes [tokens, layers, hidden], vllm-lens [layers, tokens, hidden]. The
 * number of layers settles it, and the number of {@code token_ids}, which no row may go beyond. Where both orders fit,
 * the tensor is refused unless {@code axes} says which one is meant.
 *
 * @param layers the engine's numbers of the layers, in the order of the tensor
 * @param layer the one whose rows are read
 * @param axes the order of the first two axes; null: told from the sizes
 */
public record HiddenLayers(
        List<Integer> layers, int layer, @Nullable Axes axes) {

    /** The order of the first two axes. */
    public enum Axes {
        TOKENS_FIRST,
        LAYERS_FIRST;

        /** Returns the name as configurations and commands write it: {@code tokens_first}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public HiddenLayers {
        layers = List.copyOf(layers);
        if (new HashSet<>(layers).size() < layers.size()) {
            throw new IllegalArgumentException("layers %s: expected each one once".formatted(layers));
        }
        if (!layers.contains(layer)) {
            throw new IllegalArgumentException("layer %d is not among the layers %s".formatted(layer, layers));
        }
    }

    /**
     * Returns the rows [tokens, hidden] of the layer.
     *
     * @param states of three dimensions
     * @param tokens the most rows there can be; null where nothing says it
     * @throws ActivationBatchException when the shape does not fit, or fits both ways round
     */
    Tensor rowsOf(Tensor states, @Nullable Integer tokens) {
        int first = states.size(0);
        int second = states.size(1);
        int hidden = states.size(2);
        boolean tokensFirst = axes != Axes.LAYERS_FIRST && fits(second, first, tokens);
        boolean layersFirst = axes != Axes.TOKENS_FIRST && fits(first, second, tokens);
        if (!tokensFirst && !layersFirst) {
            throw new ActivationBatchException("tensor \"%s\": shape %s, expected %s with the %d layers %s%s"
                    .formatted(
                            states.name(),
                            states.shape(),
                            axes == null
                                    ? "[tokens, layers, hidden] or [layers, tokens, hidden]"
                                    : axes == Axes.TOKENS_FIRST
                                            ? "[tokens, layers, hidden]"
                                            : "[layers, tokens, hidden]",
                            layers.size(),
                            layers,
                            tokens == null ? "" : " and at most %d tokens".formatted(tokens)));
        }
        if (tokensFirst && layersFirst) {
            throw new ActivationBatchException(
                    ("tensor \"%s\": shape %s, and %d layers fit either of the first two axes; "
                                    + "say which one with axes: tokens_first or layers_first")
                            .formatted(states.name(), states.shape(), layers.size()));
        }
        int rows = tokensFirst ? first : second;
        int place = layers.indexOf(layer);
        int rowBytes = hidden * states.dtype().bytes();
        ByteBuffer bytes = states.bytes();
        ByteBuffer chosen = ByteBuffer.allocate(rows * rowBytes).order(ByteOrder.LITTLE_ENDIAN);
        if (tokensFirst) {
            for (int row = 0; row < rows; row++) {
                chosen.put(bytes.slice((row * second + place) * rowBytes, rowBytes));
            }
        } else {
            chosen.put(bytes.slice(place * rows * rowBytes, rows * rowBytes));
        }
        chosen.flip();
        TensorEntry entry = new TensorEntry(
                states.name(), states.dtype(), List.of((long) rows, (long) hidden), 0, chosen.capacity(), 0);
        return new Tensor(entry, chosen);
    }

    private boolean fits(int layerAxis, int tokenAxis, @Nullable Integer tokens) {
        return layerAxis == layers.size() && tokenAxis >= 1 && (tokens == null || tokenAxis <= tokens);
    }
}
