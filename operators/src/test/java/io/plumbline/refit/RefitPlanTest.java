package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what is solved for which settings, and that settings in company get what they get alone. */
class RefitPlanTest {

    private static final int DIMENSION = 13;
    private static final int RANK = 4;
    private static final Problem PROBLEM = Problem.random(61, 90, 30, DIMENSION);
    private static final FittedRows ROWS = FittedRows.of(PROBLEM.trained(), PROBLEM.codes(), PROBLEM.targets());

    private static final GaeSettings RIDGE = settings(DIMENSION, Rotation.PRINTED, 0, 1);
    private static final GaeSettings STRONG = settings(DIMENSION, Rotation.PRINTED, 0, 3);
    private static final GaeSettings PRINTED = settings(RANK, Rotation.PRINTED, 2, 1);
    private static final GaeSettings FULL_RANK = settings(RANK, Rotation.FULL_RANK, 0, 3);

    private static GaeSettings settings(int rank, Rotation rotation, double geometric, double preservation) {
        return new GaeSettings(rank, rotation, Regularisation.absolute(geometric, preservation), 0);
    }

    private static List<RefitPlan.Level> levels(GaeSettings... settings) {
        return RefitPlan.of(List.of(settings), ROWS).levels();
    }

    @Test
    void settingsOfOneRidgeLevelShareIt() {
        List<RefitPlan.Level> levels = levels(STRONG, PRINTED, FULL_RANK, RIDGE, RIDGE);
        assertEquals(List.of(1.0, 3.0), lambdas(levels));
        assertEquals(List.of(RIDGE), given(levels.get(0).outside()), "once");
        assertEquals(List.of(PRINTED), given(levels.get(0).inside()), "its inside, before its outside");
        assertEquals(List.of(STRONG, PRINTED, FULL_RANK), given(levels.get(1).outside()));
        assertEquals(List.of(FULL_RANK), given(levels.get(1).inside()));
    }

    @Test
    void levelsThatWaitForNoRotationComeFirst() {
        assertEquals(
                List.of(10.0, 1.0, 3.0), lambdas(levels(PRINTED, settings(DIMENSION, Rotation.PRINTED, 0, 10), RIDGE)));
    }

    @Test
    void onlyWhatSomeSettingNeedsIsSolvedFor() {
        RefitPlan.Level inside = levels(PRINTED).get(0);
        assertFalse(inside.needsTargets() || inside.needsResidual(), "N x r solutions alone");
        RefitPlan.Level outside = levels(PRINTED).get(1);
        assertTrue(outside.needsTargets() && !outside.needsResidual());
        RefitPlan.Level ridge = levels(RIDGE).get(0);
        assertTrue(ridge.needsResidual() && !ridge.needsTargets());
        RefitPlan.Level turned = levels(FULL_RANK).get(0);
        assertTrue(turned.needsResidual() && turned.needsTargets());
        RefitPlan.Level forgetting =
                levels(settings(RANK, Rotation.FULL_RANK, 2, 0)).get(1);
        assertFalse(forgetting.needsResidual(), "no preservation: nothing is left of the rotated decoder");
    }

    @Test
    void withoutStepTwoThereIsNoLevel() {
        GaeSettings rotated = new GaeSettings(RANK, Rotation.PRINTED, Regularisation.absolute(1, 1), 1);
        RefitPlan plan = RefitPlan.of(List.of(rotated), ROWS);
        assertEquals(List.of(), plan.levels());
        assertEquals(List.of(rotated), given(plan.unsolved()));
    }

    @Test
    void aSettingInCompanyIsFittedAsAlone() {
        List<GaeSettings> all = List.of(RIDGE, STRONG, PRINTED, FULL_RANK);
        RefitInputs inputs = inputs(PROBLEM);
        PlannedRefits<FittedDecoder> together =
                PlannedRefits.of(all, ROWS, Rotations.of(inputs), (settings, refit) -> refit.fitted());
        for (GaeSettings settings : all) {
            Matrix alone = PROBLEM.adapted(settings).decoder().weights().toMatrix();
            Matrix found = together.of(settings).exact().weights().toMatrix();
            assertEquals(0.0, alone.minus(found).frobeniusNorm(), 1e-12 * alone.frobeniusNorm(), settings::toString);
        }
    }

    /** A feature that never fires: nothing determines its weights but a ridge. */
    @Test
    void aSingularLevelRefusesTheSettingsThatNeedItAndNoOthers() {
        Matrix codes = PROBLEM.codes().toDense();
        for (int i = 0; i < codes.rows(); i++) {
            codes.set(i, 7, 0.0);
        }
        Problem silent =
                new Problem(PROBLEM.trained(), PROBLEM.subspace(), SparseCodes.fromDense(codes), PROBLEM.targets());
        GaeSettings free = settings(RANK, Rotation.PRINTED, 1, 0);
        GaeSettings beyond = settings(DIMENSION, Rotation.PRINTED, 0, 0);
        List<GaeSettings> all = List.of(free, beyond, RIDGE);
        PlannedRefits<Reconstruction> refits = PlannedRefits.of(
                all,
                FittedRows.of(silent.trained(), silent.codes(), silent.targets()),
                Rotations.of(inputs(silent)),
                (settings, refit) -> refit.score().get(0));
        for (GaeSettings singular : List.of(free, beyond)) {
            String reason = assertThrows(ArithmeticException.class, () -> refits.of(singular))
                    .getMessage();
            assertTrue(String.valueOf(reason).contains("give a larger lambda"), reason);
        }
        assertTrue(refits.of(RIDGE).fvu() < 1.0);
    }

    /** Tests a decoder without the rank, on rows without a solution: the first of the two is what a person can mend. */
    @Test
    void aRotationThatIsNotDeterminedIsTheReasonThatComesFirst() {
        Problem low = Problem.random(62, 60, 3, DIMENSION);
        Matrix codes = low.codes().toDense();
        for (int i = 0; i < codes.rows(); i++) {
            codes.set(i, 1, 0.0);
        }
        Problem silent = new Problem(low.trained(), low.subspace(), SparseCodes.fromDense(codes), low.targets());
        GaeSettings settings = settings(RANK, Rotation.PRINTED, 1, 0);
        PlannedRefits<Reconstruction> refits = PlannedRefits.of(
                List.of(settings),
                FittedRows.of(silent.trained(), silent.codes(), silent.targets()),
                Rotations.of(inputs(silent)),
                (same, refit) -> refit.score().get(0));
        String reason = assertThrows(ArithmeticException.class, () -> refits.of(settings))
                .getMessage();
        assertTrue(String.valueOf(reason).contains("the decoder has rank 3"), reason);
    }

    @Test
    void aClosedSystemSolvesNothingMore() {
        RidgeSystem system = ROWS.system(1.0);
        Matrix targets = PROBLEM.targets().copy();
        system.close();
        assertThrows(IllegalStateException.class, () -> system.solve(targets));
    }

    private static RefitInputs inputs(Problem problem) {
        return new RefitInputs(problem.trained(), problem.subspace(), problem.targets(), problem.rows(), null);
    }

    private static List<Double> lambdas(List<RefitPlan.Level> levels) {
        return levels.stream().map(RefitPlan.Level::lambda).toList();
    }

    private static List<GaeSettings> given(List<RefitPlan.Item> items) {
        return items.stream().map(RefitPlan.Item::settings).toList();
    }
}
