package io.plumbline.causal.heads;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleBiFunction;

/**
 * A set of figures and the names they are reported under: libraries use one name for several figures.
 *
 * <ul>
 *   <li>{@code gae-paper}: the paper's definitions, with what it leaves open chosen as the documents say;
 *   <li>{@code gae-code}: {@code naopc} has each drop clipped to 0 to 1 before the mean over budgets, and {@code ncomp}
 *       is the unclipped mean over budgets, which is the paper's nAOPC;
 *   <li>{@code saelens}: names and formulas of the evaluations of SAELens 6.54;
 *   <li>{@code saebench}: those of SAEBench's core evaluation of May 2026. Its {@code explained_variance} takes off the
 *       square of the mean <em>square</em> where the squared mean was meant: it changes when activations are scaled.
 * </ul>
 */
public enum Profile {
    GAE_PAPER(true),
    GAE_CODE(true),
    SAELENS(false),
    SAEBENCH(false);

    private final boolean ablates;

    Profile(boolean ablates) {
        this.ablates = ablates;
    }

    /** Returns whether features are ablated, which takes a run for each active feature of a last row. */
    public boolean ablates() {
        return ablates;
    }

    /** Returns the names of its figures, in the order they are shown. */
    public List<String> names() {
        return List.copyOf(ProfileFigures.of(this).keySet());
    }

    /**
     * Returns a figure; NaN where it is not defined.
     *
     * @param width of the rows that the explainer models
     * @throws IllegalArgumentException when the profile has no figure of this name
     */
    public double value(String name, Sums sums, int width) {
        ToDoubleBiFunction<Sums, Integer> figure = ProfileFigures.of(this).get(name);
        if (figure == null) {
            throw new IllegalArgumentException("%s has no figure %s, only %s".formatted(this, name, names()));
        }
        return figure.applyAsDouble(sums, width);
    }

    /** Returns the name as it is typed. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
