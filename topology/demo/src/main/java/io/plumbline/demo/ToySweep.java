package io.plumbline.demo;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.moments.SecondMoment;
import io.plumbline.toy.SweepTable;
import io.plumbline.toy.ToyExplainer;
import io.plumbline.toy.ToyStream;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Runs the paper's controlled experiment at eleven severities, our numbers beside those of a float64 NumPy reference.
 * Windows of 2,048 regenerated rows; no broker.
 */
public final class ToySweep {

    private static final int ROWS = 2048;
    private static final int BASELINE_ROWS = 20_000;
    private static final double TOLERANCE = 1e-5;

    private ToySweep() {}

    /** Prints the table; returns whether every number agrees to {@value #TOLERANCE}. */
    public static boolean print(PrintWriter out) {
        ToyStream stream = ToyStream.load();
        SweepTable reference = SweepTable.windowsOf2048();
        SiteGeometry site = SiteGeometry.of(
                ToyExplainer.autoencoder().decoder(),
                SecondMoment.of(stream.rows(0, 0, 0, BASELINE_ROWS).hidden()),
                null,
                ToyStream.RANK);
        out.printf(
                "severity sweep, rank %d, %d rows a window; ours | reference%n%n%8s %21s %21s %21s %21s%n",
                ToyStream.RANK, ROWS, "severity", "shift", "faithfulness gap", "baseline gap", "eta");
        double worst = 0.0;
        for (int severity = 0; severity < ToyStream.SEVERITIES; severity++) {
            SecondMoment window =
                    SecondMoment.of(stream.rows(severity, 1, 0, ROWS).hidden());
            GapAssessment ours = site.assess(window);
            double[] mine = {
                ours.value(Statistic.SECOND_MOMENT_SHIFT).orElseThrow(),
                ours.value(Statistic.FAITHFULNESS_GAP).orElseThrow(),
                ours.value(Statistic.BASELINE_GAP).orElseThrow(),
                ours.value(Statistic.ETA).orElseThrow()
            };
            double[] theirs = {
                reference.get(severity, "shift_fro"),
                reference.get(severity, "gap_dec"),
                reference.get(severity, "gap_id"),
                reference.get(severity, "eta_dec")
            };
            out.printf(Locale.ROOT, "%8.1f", severity / 10.0);
            for (int i = 0; i < mine.length; i++) {
                out.printf(Locale.ROOT, "  %9.5f | %9.5f", mine[i], theirs[i]);
                worst = Math.max(worst, Math.abs(mine[i] - theirs[i]) / Math.max(1.0, Math.abs(theirs[i])));
            }
            out.println();
        }
        out.printf(Locale.ROOT, "%nlargest difference %.1e (relative above 1), tolerance %.0e%n", worst, TOLERANCE);
        return worst <= TOLERANCE;
    }
}
