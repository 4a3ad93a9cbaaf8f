package io.plumbline.topology.report;

import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.PrincipalAngles;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Shows how a window's energy lies in its directions, beside the baseline's: what a person looks at to see in which way
 * a subspace turned.
 *
 * <p>At most {@link #MOST} eigenvalues of each, since a report is kept for a month: some 2 KB at rank 32.
 *
 * @param window leading eigenvalues of the window's second moment, descending: one more than the rank, since no more
 *     are computed
 * @param baseline as many of the baseline's
 * @param baselineAngles principal angles between the active subspaces of baseline and window, ascending, radians; empty
 *     where one of them is not identified
 */
public record Spectrum(List<Double> window, List<Double> baseline, List<Double> baselineAngles) {

    /** How many eigenvalues of each moment a report carries. */
    public static final int MOST = 128;

    public Spectrum {
        window = List.copyOf(window);
        baseline = List.copyOf(baseline);
        baselineAngles = List.copyOf(baselineAngles);
    }

    /** @param comparable whether both subspaces are identified */
    public static Spectrum of(ActiveSubspace window, ActiveSubspace baseline, boolean comparable) {
        return new Spectrum(
                leading(window),
                leading(baseline),
                comparable ? boxed(PrincipalAngles.between(baseline.subspace(), window.subspace())) : List.of());
    }

    private static List<Double> leading(ActiveSubspace of) {
        int some = Math.min(MOST, Math.min(of.dimension(), of.rank() + 1));
        return IntStream.rangeClosed(1, some).mapToObj(of::eigenvalue).toList();
    }

    private static List<Double> boxed(double[] values) {
        return Arrays.stream(values).boxed().toList();
    }
}
