package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.moments.SecondMoment;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.List;

/**
 * Tries a small set of settings on the fitting rows and takes the one that reconstructs the validation rows best, by FVU.
 * "Keep the current decoder" is always among them and wins ties. The validation rows must come from other requests.
 *
 * <p><b>Default set</b>, for a site watched at rank g in dimension d, relative lambdas as geometric/preservation:
 *
 * <pre>
 * rank  rotation   lambdas           alpha
 * d     printed    0/1  0/3  0/10    0      a ridge refit towards the trained decoder, weak to strong
 * d     printed    0/1               0.5
 * g     printed    0/1  2/1          0      the paper's form
 * g     full rank  0/1  2/1          0
 * 4g    printed    2/1               0
 * 4g    full rank  0/1               0
 * </pre>
 *
 * The levels 1, 3 and 10 bracket the best one measured on a real SAE at 1,600 and 2,048 rows (between 1 and 3 under a
 * language shift; the strongest does least harm on traffic that has not drifted). Lambdas are chosen so that all settings
 * share three ridge levels.
 *
 * <p><b>Cost.</b> One d x d eigendecomposition, one Gram matrix, one {@code N^3/3} factorisation for each ridge level;
 * then {@code 2 N d^2} for each setting. Only the winner's k x d weights are formed.
 * Measured: 11 to 17 s on one shared core for the default set, 2,048 rows of d = 384, k = 3,072, TopK-32. Immutable; any number of threads.
 */
public final class CandidateSearch {

    private final List<GaeSettings> settings;
    private final DType dtype;

    private CandidateSearch(List<GaeSettings> settings, DType dtype) {
        this.settings = List.copyOf(settings);
        this.dtype = dtype;
    }

    /** The documented set. Ranks that do not fit in {@code dimension} are left out. */
    public static CandidateSearch withDefaults(int watchedRank, int dimension) {
        List<GaeSettings> settings = new ArrayList<>();
        settings.add(setting(dimension, Rotation.PRINTED, 0.0, 1.0, 0.0));
        settings.add(setting(dimension, Rotation.PRINTED, 0.0, 3.0, 0.0));
        settings.add(setting(dimension, Rotation.PRINTED, 0.0, 10.0, 0.0));
        settings.add(setting(dimension, Rotation.PRINTED, 0.0, 1.0, 0.5));
        if (watchedRank < dimension) {
            for (Rotation rotation : Rotation.values()) {
                settings.add(setting(watchedRank, rotation, 0.0, 1.0, 0.0));
                settings.add(setting(watchedRank, rotation, 2.0, 1.0, 0.0));
            }
        }
        int wider = Math.multiplyExact(4, watchedRank);
        if (wider < dimension) {
            settings.add(setting(wider, Rotation.PRINTED, 2.0, 1.0, 0.0));
            settings.add(setting(wider, Rotation.FULL_RANK, 0.0, 1.0, 0.0));
        }
        return new CandidateSearch(settings, DType.F64);
    }

    /** A set of one's own; "keep the current decoder" is added to it. */
    public static CandidateSearch of(List<GaeSettings> settings) {
        return new CandidateSearch(settings, DType.F64);
    }

    /**
     * The same search, whose winner comes back with the values it has once it was written as {@code travelling}: what is judged
     * next is then what others will get. The figures of the candidates are those before rounding.
     */
    public CandidateSearch writtenAs(DType travelling) {
        return new CandidateSearch(settings, travelling);
    }

    public List<GaeSettings> settings() {
        return settings;
    }

    /**
     * Runs the search.
     *
     * @param trained the decoder as trained; every refit starts from it
     * @param trainedSubspace of the trained decoder, at any rank
     * @param current the decoder in service, which may be an earlier adaptation
     * @throws IllegalArgumentException if shapes differ, either set of rows is empty, or a rank exceeds the dimension
     * @throws ArithmeticException if the type to be written cannot hold the winner
     */
    public SearchReport search(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            Decoder current,
            SampleRows fit,
            SampleRows validation) {
        GeometryAdapter.requireShapes(trained, trainedSubspace, fit.codes(), fit.targets());
        GeometryAdapter.requireShapes(trained, trainedSubspace, validation.codes(), validation.targets());
        for (GaeSettings setting : settings) {
            if (setting.rank() > trained.dimension()) {
                throw new IllegalArgumentException("rank = %d: expected 1 to %d, the dimension of the target space"
                        .formatted(setting.rank(), trained.dimension()));
            }
        }
        SymmetricEigen window = SymmetricEigen.of(SecondMoment.of(fit.targets()).matrix());
        SearchRun run = new SearchRun(trained, trainedSubspace, window, fit, validation);

        List<SearchReport.Figures> all = new ArrayList<>();
        Reconstruction currentOnValidation = Reconstruction.of(current, validation.codes(), validation.targets());
        SearchReport.Figures best = new SearchReport.Figures(
                new Candidate.KeepCurrent(),
                Reconstruction.of(current, fit.codes(), fit.targets()),
                currentOnValidation,
                null);
        all.add(best);
        double lowest = currentOnValidation.fvu();
        for (GaeSettings setting : settings) {
            SearchReport.Figures figures = run.evaluate(setting);
            all.add(figures);
            if (figures.validation() != null && figures.validation().fvu() < lowest) {
                lowest = figures.validation().fvu();
                best = figures;
            }
        }
        Decoder decoder = best.candidate() instanceof Candidate.Refit refit
                ? rounded(run.decoder(refit.settings()), refit)
                : current;
        return new SearchReport(all, best, decoder);
    }

    /** In place: the winner was made a line ago and nobody else has it. */
    private Decoder rounded(Decoder winner, Candidate candidate) {
        round(winner.weights().values(), "weights", candidate);
        round(winner.bias(), "bias", candidate);
        return winner;
    }

    private void round(double[] values, String what, Candidate candidate) {
        for (int i = 0; i < values.length; i++) {
            double rounded = dtype.rounded(values[i]);
            if (!Double.isFinite(rounded)) {
                throw new ArithmeticException(
                        "the %s of \"%s\" hold %s, %s holds at most %s; nothing was published, the decoder in service stays: write a wider adaptation.dtype, such as f32"
                                .formatted(what, candidate.describe(), values[i], dtype, dtype.largest()));
            }
            values[i] = rounded;
        }
    }

    private static GaeSettings setting(
            int rank, Rotation rotation, double geometric, double preservation, double alpha) {
        return new GaeSettings(rank, rotation, Regularisation.relative(geometric, preservation), alpha);
    }
}
