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
}
