package io.plumbline.refit;

import io.plumbline.explainer.SparseCodes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Lists what has to be solved for some settings on the same rows: which ridge levels, in which order, and what of each.
 *
 * <p>A setting at full rank needs R of the level lp. One below it needs T of the level lp + lg, for a full-rank
 * rotation R too, and from the level lp the N x r matrix that is missing inside the window's subspace, C of {@link
 * StepTwo}. Nothing needs the third solution, of the trained weights' reconstructions: it is {@code T - R}.
 *
 * <p><b>Order.</b> First the levels without a rotation, which {@link Rotations#ahead} are computed beside; then by
 * lambda, so that the inside of a setting is solved before its outside, at most one level is held at a time, and of the
 * levels before it no more than N x r matrices.
 */
final class RefitPlan {

    private final List<Item> unsolved;
    private final List<Level> levels;

    /**
     * A setting with its lambdas in the units of Cov z.
     *
     * @param settings as they were given
     */
    record Item(GaeSettings settings, Regularisation absolute, boolean rotates) {

        /** Returns the level of what is fitted inside the window's subspace; at full rank this is everything. */
        double inner() {
            return absolute.preservation();
        }

        /** Returns the level of what is fitted outside of it. */
        double outer() {
            return rotates ? absolute.preservation() + absolute.geometric() : inner();
        }

        /** Returns whether inside and outside have the same level. */
        boolean isOfOneLevel() {
            return inner() == outer();
        }

        /** Returns whether Step 2 has to know what is left of the targets by the trained weights. */
        boolean needsResidual() {
            return !rotates || (settings.rotation() == Rotation.FULL_RANK && absolute.shrink() != 0.0);
        }
    }

    /**
     * A ridge level.
     *
     * @param inside settings whose inside it solves
     * @param outside settings that are fitted once it is solved, those that rotate nothing first
     */
    record Level(double lambda, List<Item> inside, List<Item> outside) {

        private static Level at(double lambda) {
            return new Level(lambda, new ArrayList<>(), new ArrayList<>());
        }

        boolean needsTargets() {
            return outside.stream().anyMatch(Item::rotates);
        }

        boolean needsResidual() {
            return outside.stream().anyMatch(Item::needsResidual);
        }

        /** Returns every setting that needs this level. */
        List<Item> all() {
            return Stream.concat(inside.stream(), outside.stream()).distinct().toList();
        }

        private boolean rotates() {
            return !inside.isEmpty() || needsTargets();
        }
    }

    private RefitPlan(List<Item> unsolved, List<Level> levels) {
        this.unsolved = unsolved;
        this.levels = levels;
    }

    /** Plans settings for these rows. */
    static RefitPlan of(List<GaeSettings> all, FittedRows rows) {
        int dimension = rows.trained().dimension();
        return of(all.stream()
                .distinct()
                .map(settings -> item(settings, rows.codes(), dimension))
                .toList());
    }

    private static RefitPlan of(List<Item> items) {
        List<Item> unsolved = new ArrayList<>();
        Map<Double, Level> levels = new TreeMap<>();
        for (Item item :
                items.stream().sorted(Comparator.comparing(Item::rotates)).toList()) {
            if (!item.settings().refits()) {
                unsolved.add(item);
                continue;
            }
            levels.computeIfAbsent(item.outer(), Level::at).outside().add(item);
            if (item.rotates()) {
                levels.computeIfAbsent(item.inner(), Level::at).inside().add(item);
            }
        }
        return new RefitPlan(
                unsolved,
                levels.values().stream()
                        .sorted(Comparator.comparing(Level::rotates))
                        .toList());
    }

    private static Item item(GaeSettings settings, SparseCodes codes, int dimension) {
        return new Item(settings, settings.regularisation().inUnitsOf(codes), settings.rank() < dimension);
    }

    /** Returns settings that are Step 1 alone, without a level. */
    List<Item> unsolved() {
        return unsolved;
    }

    /** Returns the levels in the order to solve them in. */
    List<Level> levels() {
        return levels;
    }
}
