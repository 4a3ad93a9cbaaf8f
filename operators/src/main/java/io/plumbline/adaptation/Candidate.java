package io.plumbline.adaptation;

import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Refit;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SharedSolutions;
import java.util.Locale;

/** One of the things a search may end with. */
public sealed interface Candidate {

    /** Returns the candidate in words, for reports and logs. */
    String describe();

    /**
     * Returns this candidate on the solutions that all share.
     *
     * @throws ArithmeticException if the rows or the trained decoder do not determine it
     */
    Refit on(SharedSolutions shared);

    /** The candidate that changes nothing. */
    record KeepCurrent() implements Candidate {
        @Override
        public String describe() {
            return "keep the current decoder";
        }

        @Override
        public Refit on(SharedSolutions shared) {
            throw new UnsupportedOperationException("to keep a decoder nothing is fitted");
        }
    }

    /** The trained weights with the bias {@code mean y - W mean z} of the window: no feature changes. */
    record BiasOnly() implements Candidate {
        @Override
        public String describe() {
            return "trained weights, new bias";
        }

        @Override
        public Refit on(SharedSolutions shared) {
            return shared.biasOnly();
        }
    }

    /** The candidate that refits the trained decoder with these settings. */
    record Gae(GaeSettings settings) implements Candidate {
        @Override
        public String describe() {
            return String.format(
                    Locale.ROOT,
                    "rank %d, %s rotation, %s lambdas %s/%s (geometric/preservation), alpha %s",
                    settings.rank(),
                    settings.rotation() == Rotation.PRINTED ? "printed" : "full-rank",
                    settings.regularisation().relative() ? "relative" : "absolute",
                    settings.regularisation().geometric(),
                    settings.regularisation().preservation(),
                    settings.alpha());
        }

        @Override
        public Refit on(SharedSolutions shared) {
            return shared.refit(settings);
        }
    }
}
