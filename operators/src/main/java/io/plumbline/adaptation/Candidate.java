package io.plumbline.adaptation;

import java.util.Locale;

/** One of the things a search may end with. */
public sealed interface Candidate {

    /** In words, for reports and logs. */
    String describe();

    /** Change nothing. */
    record KeepCurrent() implements Candidate {
        @Override
        public String describe() {
            return "keep the current decoder";
        }
    }

    /** The trained weights with the bias {@code mean y - W mean z} of the window: no feature changes. */
    record BiasOnly() implements Candidate {
        @Override
        public String describe() {
            return "trained weights, new bias";
        }
    }

    /** Refit the trained decoder with these settings. */
    record Refit(GaeSettings settings) implements Candidate {
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
    }

    /** Refit as the authors' public code does, see {@link AuthorsCode}; the rotation of the settings plays no part. */
    record AsAuthorsCode(GaeSettings settings) implements Candidate {
        public AsAuthorsCode {
            AuthorsCode.requireSettings(settings);
        }

        @Override
        public String describe() {
            return String.format(
                    Locale.ROOT,
                    "as the authors' code: rank %d, lambdas %s/%s (geometric/preservation) without 1/N, alpha %s",
                    settings.rank(),
                    settings.regularisation().geometric(),
                    settings.regularisation().preservation(),
                    settings.alpha());
        }
    }
}
