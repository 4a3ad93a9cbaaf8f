package io.plumbline.topology.emission;

import io.plumbline.topology.adaptation.SwapState;

/** Takes what a {@link DecoderSubscriber} finds. Called on the subscriber's one thread. */
public interface DecoderListener {

    /** Takes a newer, complete and verified decoder; never a torn one. An exception stops the subscriber. */
    void onDecoder(PublishedDecoder decoder);

    /** The adapter says where it stands with the site: pinned, or a candidate that waits. */
    default void onSwapState(String site, SwapState state) {}

    /** Hears of a version or record that was not trusted; the last decoder handed out stays valid. */
    default void onRefused(String site, long version, String reason) {}

    /**
     * Everything that was on the topic when the subscriber started has been read, and more where compaction had begun
     * to replace it. Called once.
     */
    default void onCaughtUp() {}

    /**
     * The broker cannot be reached or answers with an error; the subscriber keeps trying, and what was handed out stays
     * valid. Said once for each reason.
     */
    default void onInterrupted(String reason) {}

    /** The broker answers again after {@link #onInterrupted}. */
    default void onResumed() {}
}
