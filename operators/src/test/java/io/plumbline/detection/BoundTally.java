package io.plumbline.detection;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts over many windows how often a valid bound was broken, each was vacuous, and the printed one was certified or
 * broken.
 */
public final class BoundTally {

    private final Map<String, Integer> vacuous = new LinkedHashMap<>();
    private int windows;
    private int violations;
    private int certified;
    private int printedBroken;

    void add(GapAssessment window) {
        windows++;
        violations += window.violatedBounds().size();
        certified += Boolean.TRUE.equals(window.davisKahanCertified()) ? 1 : 0;
        double printed = window.value(Statistic.DAVIS_KAHAN_AS_PRINTED).orElse(Double.NaN);
        double gap = window.value(Statistic.BASELINE_GAP).orElse(Double.NaN);
        printedBroken += gap > printed * (1.0 + 1e-9) ? 1 : 0;
        window.vacuous().forEach((bound, says) -> vacuous.merge(bound, says ? 1 : 0, Integer::sum));
    }

    public int windows() {
        return windows;
    }

    public int violations() {
        return violations;
    }

    @Override
    public String toString() {
        return "%d windows, %d violations of valid bounds; printed: certified in %d, broken in %d; vacuous: %s"
                .formatted(windows, violations, certified, printedBroken, vacuous);
    }
}
