package io.plumbline.groups;

/** Says whether the baseline has requests like those of a group. */
public sealed interface Familiarity {

    /** The baseline has no group like it: a new kind of traffic. */
    record New() implements Familiarity {}

    /**
     * The baseline has a group like it: a known kind, and more frequent where the group's share of requests is larger.
     *
     * @param share of the baseline's requests, in (0, 1]
     */
    record Known(double share) implements Familiarity {}

    /** The baseline does not keep its own groups. */
    record NotKept() implements Familiarity {}
}
