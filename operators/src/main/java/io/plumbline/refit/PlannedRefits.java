package io.plumbline.refit;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Solves a {@link RefitPlan} level after level, and makes something of each setting while its level is there.
 *
 * <p><b>Cost</b> for each level: {@code N^3/3} flops, {@code 2 N^2 d} for T and for R, a {@link CentredCross} product
 * with either for other rows; for each setting below full rank {@code 2 N^2 r} and {@code 6 N d r}. <b>Size</b> beside
 * the {@link FittedRows}: {@code 16 N d} bytes, and {@code 4 N^2} while a level is solved or {@code 16 n d} while its
 * settings are made, n other rows. One thread, beside that of {@link Rotations#ahead}.
 *
 * @param <T> what is made of each setting
 */
public final class PlannedRefits<T> {

    private final FittedRows rows;
    private final Function<GaeSettings, StepOne> stepOnes;
    private final BiFunction<GaeSettings, Refit, T> maker;
    private final Map<GaeSettings, T> made = new HashMap<>();
    private final Map<GaeSettings, ArithmeticException> undetermined = new HashMap<>();
    /** The part of C that comes from the level inside, N x r, of settings whose outside is not solved yet. */
    private final Map<GaeSettings, Matrix> insides = new HashMap<>();

    private PlannedRefits(
            FittedRows rows, Function<GaeSettings, StepOne> stepOnes, BiFunction<GaeSettings, Refit, T> maker) {
        this.rows = rows;
        this.stepOnes = stepOnes;
        this.maker = maker;
    }

    /**
     * Solves settings.
     *
     * @param rotations which another core may be at already ({@link Rotations#ahead})
     * @param maker makes something of a setting and its refit, which lasts as long as that call
     * @throws IllegalArgumentException for a level 0 without more rows than features
     */
    public static <T> PlannedRefits<T> of(
            List<GaeSettings> all, FittedRows rows, Rotations rotations, BiFunction<GaeSettings, Refit, T> maker) {
        return new PlannedRefits<>(rows, rotations::of, maker).solve(RefitPlan.of(all, rows));
    }

    /** Solves one setting whose Step 1 is done. */
    static <T> T single(GaeSettings settings, FittedRows rows, StepOne stepOne, Function<Refit, T> maker) {
        return new PlannedRefits<>(rows, same -> stepOne, (same, refit) -> maker.apply(refit))
                .solve(RefitPlan.of(List.of(settings), rows))
                .of(settings);
    }

    /**
     * Returns what was made of one of the settings.
     *
     * @throws ArithmeticException if the rows or the trained decoder do not determine it
     */
    public T of(GaeSettings settings) {
        ArithmeticException reason = undetermined.get(settings);
        if (reason != null) {
            throw reason;
        }
        return Objects.requireNonNull(made.get(settings), settings::toString);
    }

    private PlannedRefits<T> solve(RefitPlan plan) {
        for (RefitPlan.Item item : plan.unsolved()) {
            make(item, stepOne -> Refit.withoutStepTwo(rows, stepOne));
        }
        for (RefitPlan.Level level : plan.levels()) {
            solve(level);
        }
        return this;
    }

    private void solve(RefitPlan.Level level) {
        Solutions solutions;
        try (RidgeSystem system = rows.system(level.lambda())) {
            solutions = Solutions.of(level, system, rows.centred());
            for (RefitPlan.Item item : level.inside()) {
                solveInside(item, system);
            }
        } catch (ArithmeticException singular) {
            refuse(level, singular);
            return;
        }
        List<Solutions.Image> images = rows.sets().stream()
                .map(set -> solutions.on(set, rows.centred()))
                .toList();
        for (RefitPlan.Item item : level.outside()) {
            make(item, stepOne -> {
                StepTwo stepTwo = StepTwo.of(stepOne, item.settings().alpha(), item.absolute());
                Matrix missing = item.rotates() ? missingInside(item, stepOne, solutions) : null;
                return new Refit(rows, stepOne, stepTwo, new Refit.Level(solutions, images), missing);
            });
        }
    }

    /** Solves for what a level has to say on the inside of a setting, {@code (K + N lp I)^-1 (Zc D L - Yc V)}. */
    private void solveInside(RefitPlan.Item item, RidgeSystem system) {
        StepOne stepOne;
        try {
            stepOne = stepOnes.apply(item.settings());
        } catch (ArithmeticException undeterminedStepOne) {
            return; // The reason is given when the setting is made.
        }
        Matrix rightHandSides = Kernels.multiply(rows.centred().trained(), Objects.requireNonNull(stepOne.turn()));
        if (!item.isOfOneLevel()) {
            rightHandSides =
                    rightHandSides.minus(Kernels.multiply(rows.centred().targets(), basis(stepOne)));
        }
        insides.put(item.settings(), system.solve(rightHandSides));
    }

    /** Returns C of {@link StepTwo}. Where inside and outside have the same level, T holds the second term already. */
    private Matrix missingInside(RefitPlan.Item item, StepOne stepOne, Solutions outside) {
        Matrix solved = Objects.requireNonNull(insides.remove(item.settings()));
        return item.isOfOneLevel() ? solved : solved.plus(1.0, outside.targetsTimes(basis(stepOne)));
    }

    private static Matrix basis(StepOne stepOne) {
        return Objects.requireNonNull(stepOne.basis());
    }

    /** Refuses all settings that need a level; a Step 1 that is not determined is the reason that comes first. */
    private void refuse(RefitPlan.Level level, ArithmeticException singular) {
        for (RefitPlan.Item item : level.all()) {
            make(item, stepOne -> {
                throw new ArithmeticException(
                        "the system of the refit is singular at lambda preservation = %s (%s); give a larger lambda"
                                .formatted(item.absolute().preservation(), singular.getMessage()));
            });
        }
    }

    /** Makes something of a setting, unless it was refused before. */
    private void make(RefitPlan.Item item, Function<StepOne, Refit> refit) {
        GaeSettings settings = item.settings();
        if (undetermined.containsKey(settings)) {
            return;
        }
        Refit done;
        try {
            done = refit.apply(stepOnes.apply(settings));
        } catch (ArithmeticException reason) {
            undetermined.put(settings, reason);
            return;
        }
        made.put(settings, maker.apply(settings, done));
    }
}
