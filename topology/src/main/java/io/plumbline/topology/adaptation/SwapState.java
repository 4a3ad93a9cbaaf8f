package io.plumbline.topology.adaptation;

import io.plumbline.topology.report.Json;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The commitments of the adapter for a site. In its store, and for everyone to read beside the decoders: JSON with
 * snake-case keys; keys it does not know are passed over, so that a key can be added.
 *
 * @param version of the decoder published last, 0 before the first
 * @param adapted whether that one is an adapted decoder
 * @param pinned whether it stays in service until a person says otherwise
 * @param holding whether a return of the trained decoder was asked for, and held, since it was pinned
 * @param candidates how many candidates there were
 * @param waiting the one that waits for approval; null: none
 * @param swapsMs ends of the windows whose decoders went into service, as far back as the limit on swaps looks
 * @param fitted what the decoder in service was fitted on; null while the trained one serves
 * @param pausedUntilMs event time up to which nothing is refitted; 0: nothing is paused; {@link #FROM_THE_NEXT_WINDOW}
 * @param explainer the candidate explainer that waits for approval; null: none
 * @param explainerSha256 names the explainer that serves, by its trained decoder; null: the site's own
 */
public record SwapState(
        long version,
        boolean adapted,
        boolean pinned,
        boolean holding,
        long candidates,
        @Nullable Waiting waiting,
        List<Long> swapsMs,
        @Nullable Fitted fitted,
        long pausedUntilMs,
        @Nullable Waiting explainer,
        @Nullable String explainerSha256) {

    /** Stands for a pause that begins with the next window that asks: a person's command has no event time. */
    static final long FROM_THE_NEXT_WINDOW = -1;

    /** The state before anything was published. */
    public static final SwapState INITIAL =
            new SwapState(0, false, false, false, 0, null, List.of(), null, 0, null, null);

    /**
     * The rows that a decoder was fitted on.
     *
     * @param windowEndMs end of the newest window
     * @param rows distinct rows, of all windows that were pooled
     */
    public record Fitted(long windowEndMs, long rows) {}

    /**
     * A candidate that waits.
     *
     * @param number its version among candidates
     * @param windowEndMs end of the newest window it was fitted on
     * @param rows distinct rows it was fitted on
     * @param expiresMs broker time from which it can no longer be approved
     * @param decoderSha256 {@link io.plumbline.explainer.Decoder#sha256()} of it, as it travels
     */
    public record Waiting(
            long number,
            long windowEndMs,
            long rows,
            long expiresMs,
            @Nullable String decoderSha256) {}

    public SwapState {
        swapsMs = swapsMs == null ? List.of() : List.copyOf(swapsMs);
        if (version < 0 || candidates < 0) {
            throw new IllegalArgumentException(
                    "version = %d, candidates = %d: expected 0 or more".formatted(version, candidates));
        }
    }

    /** Returns what waits for a person: a candidate decoder, else a candidate explainer; null: nothing does. */
    public @Nullable Waiting forApproval() {
        return waiting == null ? explainer : waiting;
    }

    /** Returns whether a person can undo a swap: an adapted decoder serves, or an explainer that was a candidate. */
    public boolean canGoBack() {
        return adapted || explainerSha256 != null;
    }

    /**
     * Returns this state with another decoder in service. A candidate that was judged against the one before is void.
     *
     * @param newlyFitted what it was fitted on; null for the trained one
     */
    SwapState inService(long newVersion, @Nullable Fitted newlyFitted) {
        return changed(next -> {
            next.version = newVersion;
            next.adapted = newlyFitted != null;
            next.holding = false;
            next.waiting = null;
            next.fitted = newlyFitted;
            next.explainer = null;
        });
    }

    /**
     * Returns this state with the trained decoder of another explainer in service.
     *
     * @param sha256 names that explainer; null: the site's own
     */
    SwapState explainedBy(long newVersion, @Nullable String sha256) {
        return inService(newVersion, null).explainedBy(sha256);
    }

    /** Returns this state, of a site that this explainer explains; null: its own. */
    SwapState explainedBy(@Nullable String sha256) {
        return changed(next -> next.explainerSha256 = sha256);
    }

    /** Returns this state with a candidate explainer that waits; null: none does. */
    SwapState proposedExplainer(@Nullable Waiting candidate) {
        return changed(next -> {
            next.candidates = candidate == null ? candidates : candidate.number();
            next.explainer = candidate;
        });
    }

    SwapState swappedAt(long windowEndMs, SwapRules rules) {
        List<Long> swaps = Stream.concat(swapsSince(windowEndMs, rules), Stream.of(windowEndMs))
                .toList();
        return changed(
                next -> next.swapsMs = swaps.subList(Math.max(0, swaps.size() - SwapRules.MOST_SWAPS), swaps.size()));
    }

    /** Returns how many decoders went into service in the period that ends there. */
    long swaps(long windowEndMs, SwapRules rules) {
        return swapsSince(windowEndMs, rules).count();
    }

    private Stream<Long> swapsSince(long windowEndMs, SwapRules rules) {
        return swapsMs.stream()
                .filter(ms -> ms > windowEndMs - rules.swapPeriod().toMillis());
    }

    SwapState proposed(Waiting candidate) {
        return changed(next -> {
            next.candidates = candidate.number();
            next.waiting = candidate;
        });
    }

    SwapState withoutCandidate() {
        return changed(next -> next.waiting = null);
    }

    SwapState pinned(boolean isPinned) {
        return changed(next -> {
            next.pinned = isPinned;
            next.holding = false;
        });
    }

    SwapState holdingARevert() {
        return changed(next -> next.holding = true);
    }

    SwapState pausedUntil(long ms) {
        return changed(next -> next.pausedUntilMs = ms);
    }

    private SwapState changed(Consumer<Next> change) {
        Next next = new Next(this);
        change.accept(next);
        return next.state();
    }

    /** The next state while it is made: a change names what it changes and nothing else. */
    private static final class Next {
        private long version;
        private boolean adapted;
        private boolean pinned;
        private boolean holding;
        private long candidates;
        private @Nullable Waiting waiting;
        private List<Long> swapsMs;
        private @Nullable Fitted fitted;
        private long pausedUntilMs;
        private @Nullable Waiting explainer;
        private @Nullable String explainerSha256;

        private Next(SwapState before) {
            version = before.version;
            adapted = before.adapted;
            pinned = before.pinned;
            holding = before.holding;
            candidates = before.candidates;
            waiting = before.waiting;
            swapsMs = before.swapsMs;
            fitted = before.fitted;
            pausedUntilMs = before.pausedUntilMs;
            explainer = before.explainer;
            explainerSha256 = before.explainerSha256;
        }

        private SwapState state() {
            return new SwapState(
                    version,
                    adapted,
                    pinned,
                    holding,
                    candidates,
                    waiting,
                    swapsMs,
                    fitted,
                    pausedUntilMs,
                    explainer,
                    explainerSha256);
        }
    }

    public byte[] encode() {
        return Json.bytes(this);
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a state of this layout. */
    public static SwapState decode(byte[] bytes) {
        return Json.read(bytes, SwapState.class);
    }
}
