package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.Subspace;
import org.jspecify.annotations.Nullable;

/**
 * The decoder in service, which a proposed one is judged against.
 *
 * @param decoder the trained one, or an earlier adaptation
 * @param leading {@link DictionarySpace#of(Decoder, int)} of it at the rank the site is watched at, where somebody has
 *     computed that before: {@code k d^2} flops that a refit need not wait for. Null: not known
 */
public record ServingDecoder(Decoder decoder, @Nullable Subspace leading) {

    /** Returns a serving decoder whose leading directions are not known. */
    public static ServingDecoder of(Decoder decoder) {
        return new ServingDecoder(decoder, null);
    }

    /** Returns the directions it writes in; null where it does not determine them. */
    @Nullable
    Subspace leading(int rank) {
        return leading == null ? DictionarySpace.of(decoder, rank) : leading;
    }
}
