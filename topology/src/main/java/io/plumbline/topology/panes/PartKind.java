package io.plumbline.topology.panes;

import java.util.function.BinaryOperator;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A kind of {@link PanePart}: its number, how one is opened for a site, and how those of a window's panes are
 * added up.
 *
 * @param <V> what a window reads of it
 */
public final class PartKind<V> {

    private final byte number;
    private final Function<PaneSite, PanePart<V>> open;
    private final Function<PaneSite, @Nullable V> nothing;
    private final BinaryOperator<V> plus;
    private final Erasing erasing;

    /** Takes one request out of an encoded part. */
    interface Erasing {

        /** Leaves parts as they are that hold nothing of a single request. */
        Erasing NOTHING = (part, request) -> part;

        /**
         * Returns the part without the request; the same array where it holds nothing of it.
         *
         * @param part as stored or sent
         * @param request hash of its name
         */
        byte[] without(byte[] part, long request);
    }

    /**
     * @param number in messages and keys, from 2 on
     * @param nothing the sum of no panes; null where a window of this site has none
     * @param plus adds the second to the first, which it may change and return; the second stays as it is
     * @param erasing takes one request out of it
     */
    PartKind(
            int number,
            Function<PaneSite, PanePart<V>> open,
            Function<PaneSite, @Nullable V> nothing,
            BinaryOperator<V> plus,
            Erasing erasing) {
        this.number = (byte) number;
        this.open = open;
        this.nothing = nothing;
        this.plus = plus;
        this.erasing = erasing;
    }

    public byte number() {
        return number;
    }

    byte[] without(byte[] part, long request) {
        return erasing.without(part, request);
    }

    PanePart<V> open(PaneSite site) {
        return open.apply(site);
    }

    /** Adds up what the panes of one window have collected, in their order; null where the site collects nothing. */
    @Nullable
    V sum(PaneSite site, Iterable<Pane> panes) {
        V sum = nothing.apply(site);
        if (sum == null) {
            return null;
        }
        for (Pane pane : panes) {
            V value = pane.value(this);
            if (value != null) {
                sum = plus.apply(sum, value);
            }
        }
        return sum;
    }
}
