package io.plumbline.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/** Holds what a run has found so far. */
final class Findings {

    final List<Measurement> measurements = new ArrayList<>();
    final List<Ratio> ratios = new ArrayList<>();
    final List<Pauses> pauses = new ArrayList<>();
    final List<Curve> curves = new ArrayList<>();
    final List<String> notes = new ArrayList<>();
    private final Consumer<String> progress;

    /** @param progress hears what is done next */
    Findings(Consumer<String> progress) {
        this.progress = progress;
    }

    void next(String what) {
        progress.accept(what);
    }

    /** Adds all variants of one piece of work, the one the others are compared with first. */
    void add(List<Measurement> variants) {
        for (Measurement one : variants) {
            measurements.add(one.comparedWith(variants.get(0)));
        }
    }

    /** Adds one more variant of a piece of work whose others were added before. */
    void addTo(Measurement variant) {
        Measurement first = measurements.stream()
                .filter(m -> m.what().equals(variant.what()))
                .findFirst()
                .orElseThrow();
        measurements.add(variant.comparedWith(first));
    }

    /**
     * Returns how many times faster the first variant of a piece of work is than the named one, where both were
     * measured.
     */
    OptionalDouble ahead(String what, String variant) {
        return measurements.stream()
                .filter(m -> m.what().equals(what) && m.variant().equals(variant))
                .mapToDouble(Measurement::ahead)
                .findFirst();
    }

    /** Keeps the least of several ratios; nothing where none was measured. */
    void leastOf(String what, List<OptionalDouble> measured) {
        measured.stream()
                .flatMapToDouble(OptionalDouble::stream)
                .min()
                .ifPresent(least -> ratios.add(new Ratio(what, least)));
    }
}
