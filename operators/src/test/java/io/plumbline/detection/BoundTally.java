package io.plumbline.detection;

import io.plumbline.geometry.GapAssessment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Of many windows: how often a valid bound was broken, each was vacuous, and the printed one was certified or broken. */
public final class BoundTally {

    private static final List<String> BOUNDS = List.of(
            "davis_kahan_as_printed",
            "davis_kahan_valid",
            "davis_kahan_both_spectra",
            "davis_kahan_water_filling",
            "gap_upper_bound");

    private final Map<String, Integer> vacuous = new LinkedHashMap<>();
    private int windows;
    private int violations;
    private int certified;
    private int printedBroken;

    public void add(GapAssessment window) {
        windows++;
        violations += window.violatedBounds().size();
        certified += Boolean.TRUE.equals(window.davisKahanCertified()) ? 1 : 0;
        Double printed = window.davisKahanAsPrinted();
        Double gap = window.baselineGap();
        printedBroken += printed != null && gap != null && gap > printed * (1.0 + 1e-9) ? 1 : 0;
        for (String bound : BOUNDS) {
            vacuous.merge(bound, Boolean.TRUE.equals(window.vacuous().get(bound)) ? 1 : 0, Integer::sum);
        }
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
