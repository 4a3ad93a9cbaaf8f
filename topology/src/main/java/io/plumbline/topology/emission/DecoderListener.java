package io.plumbline.topology.emission;

/** Takes what a {@link DecoderSubscriber} finds. Called on the subscriber's one thread. */
public interface DecoderListener {

    /** A newer, complete and verified decoder; never a torn one. An exception stops the subscriber. */
    void onDecoder(PublishedDecoder decoder);

    /** A version or record that was not trusted; the last decoder handed out stays valid. */
    default void onRefused(String site, long version, String reason) {}

    /** Everything that was on the topic when the subscriber started has been read. Called once. */
    default void onCaughtUp() {}

    /** The broker cannot be reached or answers with an error; the subscriber keeps trying. */
    default void onInterrupted(String reason) {}
}
