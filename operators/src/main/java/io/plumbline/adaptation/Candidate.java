package io.plumbline.adaptation;

import io.plumbline.refit.FittedRows;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.PlannedRefits;
import io.plumbline.refit.Refit;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.Rotations;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** One of the things a search may end with. */
public sealed interface Candidate {

    /** Returns the candidate in words, for reports and logs. */
    String describe();

    /**
     * Fits this candidate by itself.
     *
     * @param maker takes the refit, which lasts as long as that call
     * @return what the maker made of it
     * @throws ArithmeticException if the rows or the trained decoder do not determine it
     */
    <T> T fit(FittedRows rows, Rotations rotations, Function<Refit, T> maker);

    /** Returns the settings of those that refit. */
    static List<GaeSettings> settings(List<Candidate> candidates) {
        return candidates.stream()
                .filter(Gae.class::isInstance)
                .map(candidate -> ((Gae) candidate).settings())
                .toList();
    }

    /** The candidate that changes nothing. */
    record KeepCurrent() implements Candidate {
        @Override
        public String describe() {
            return "keep the current decoder";
        }

        @Override
        public <T> T fit(FittedRows rows, Rotations rotations, Function<Refit, T> maker) {
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
        public <T> T fit(FittedRows rows, Rotations rotations, Function<Refit, T> maker) {
            return maker.apply(rows.biasOnly());
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
        public <T> T fit(FittedRows rows, Rotations rotations, Function<Refit, T> maker) {
            List<GaeSettings> alone = List.of(settings);
            return PlannedRefits.of(alone, rows, rotations.ahead(alone), (same, refit) -> maker.apply(refit))
                    .of(settings);
        }
    }
}
