package io.plumbline.adaptation;

import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Rotation;
import java.util.List;

/** A named set of refits to try. */
public sealed interface AdaptationProfile {

    /**
     * Returns what to try for a site watched at {@code rank} in a space of {@code dimension}.
     *
     * @param anchored whether there are rows of the baseline to hold refits by
     */
    CandidateSearch search(int rank, int dimension, boolean anchored);

    /**
     * Returns whether rows of the baseline hold the trained decoder's answers in distribution while the window is
     * fitted.
     */
    boolean anchors();

    /**
     * Returns whether a rotation takes every direction of the trained dictionary, and not the leading ones alone.
     *
     * @param dimension of the space the dictionary writes in
     */
    boolean takesAllDirections(int dimension);

    /** The set of {@link CandidateSearch}, with rows of the baseline as anchors. */
    record Auto() implements AdaptationProfile {
        @Override
        public CandidateSearch search(int rank, int dimension, boolean anchored) {
            return CandidateSearch.withDefaults(rank, dimension, anchored);
        }

        @Override
        public boolean anchors() {
            return true;
        }

        @Override
        public boolean takesAllDirections(int dimension) {
            return true;
        }
    }

    /** Algorithm 1 as the paper prints it, with the hyper-parameters given. */
    record Paper(GaeSettings settings) implements AdaptationProfile {
        @Override
        public CandidateSearch search(int rank, int dimension, boolean anchored) {
            return CandidateSearch.of(List.of(new Candidate.Gae(settings)));
        }

        @Override
        public boolean anchors() {
            return false;
        }

        @Override
        public boolean takesAllDirections(int dimension) {
            return settings.rotation() == Rotation.FULL_RANK
                    || !ExplainerSubspace.isLeadingEnough(settings.rank(), dimension);
        }
    }
}
