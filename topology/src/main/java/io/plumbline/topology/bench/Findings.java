package io.plumbline.topology.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/** What a run has found so far. */
final class Findings {

    final List<Measurement> measurements = new ArrayList<>();
    final List<Claim> claims = new ArrayList<>();
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

    /** All variants of one piece of work, the one the others are compared with first. */
    void add(List<Measurement> variants) {
        for (Measurement one : variants) {
            measurements.add(one.comparedWith(variants.get(0)));
        }
    }

    /** How many times faster the first variant of a piece of work is than the named one, where both were measured. */
    OptionalDouble ahead(String what, String variant) {
        return measurements.stream()
                .filter(m -> m.what().equals(what) && m.variant().equals(variant))
                .mapToDouble(Measurement::ahead)
                .findFirst();
    }

    /** A claim on the least of several ratios; none where nothing was measured. */
    void claim(String what, double asked, List<OptionalDouble> ratios) {
        ratios.stream()
                .flatMapToDouble(OptionalDouble::stream)
                .min()
                .ifPresent(least -> claims.add(new Claim(what, asked, least)));
    }
}
