package io.plumbline.topology.adaptation;

/** Watches the fourth and fifth stage. Called on stream threads; must be thread-safe and must not block. */
public interface AdaptationListener {

    /** Hears that a request was answered; the report is final. */
    void onAdaptation(AdaptationReport report);

    /** An adaptation of {@code site} begins on {@code rows} sampled rows. */
    default void onSample(String site, int rows) {}

    /** The adapter holds {@code rows} distinct rows of drifted windows of {@code site} for its next refit. */
    default void onPooled(String site, int rows) {}

    /** This instance no longer adapts {@code site}: what it holds must not be shown here any more. */
    default void onPoolReleased(String site) {}

    /** {@code nanoseconds} were spent cutting a decoder into records and handing them to the producer. */
    default void onEmitted(long nanoseconds) {}

    /** A record of the requests topic was not written by this program; it was skipped. */
    default void onForeign() {}
}
