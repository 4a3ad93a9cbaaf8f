package io.plumbline.topology.baselines;

/** Watches the baselines of sites. Implementations must be thread-safe and must not block. */
public interface BaselineListener {

    /** The topic has a record more of a site. */
    default void onBaselines(BaselineHistory history) {}

    /** Says how many baselines this process took over that the topic has not taken yet. */
    default void onUnwritten(int baselines) {}
}
