package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One family of per-window values: its Prometheus name, its HELP text, and the label it carries beside {@code site}, if any.
 *
 * <p>All are gauges that speak of the newest closed window of a site. {@code _ratio} is kept for values that cannot leave
 * {@code [0, 1]}; relative sizes that can grow beyond 1 (relative shift, fraction of variance unexplained) do not carry it. Gaps and
 * bounds are dimensionless; energies are in squared activation units, which have no name.
 */
public enum WindowMetric {
    WINDOW_START(
            "plumbline_window_start_timestamp_seconds",
            "Event time at which the newest closed window begins, in seconds since the epoch"),
    WINDOW_END(
            "plumbline_window_end_timestamp_seconds",
            "Event time at which the newest closed window ends, in seconds since the epoch"),
    ROWS("plumbline_window_rows", "Activation rows in the newest closed window"),
    RANK("plumbline_window_rank", "Rank r of the subspaces that are compared"),
    DIMENSION("plumbline_window_dimension", "Width d of the target space of the site"),
    FAITHFULNESS_GAP(
            "plumbline_faithfulness_gap",
            "Faithfulness gap: Frobenius norm of the difference of the projectors onto the active and the explainer subspace"),
    ACTIVE_FAITHFULNESS_GAP(
            "plumbline_active_faithfulness_gap",
            "Faithfulness gap of the decoder in service, where plumbline_faithfulness_gap is that of the trained one"),
    BASELINE_GAP(
            "plumbline_baseline_gap",
            "Frobenius gap between the active subspace of the window and that of the baseline"),
    EXPLAINER_BASELINE_GAP(
            "plumbline_explainer_baseline_gap",
            "Frobenius gap between the explainer subspace and the active subspace of the baseline"),
    RECONSTRUCTION_GAP(
            "plumbline_reconstruction_gap",
            "Frobenius gap between the active subspace and the top eigenspace of the explainer's reconstructions of the baseline"),
    LARGEST_GAP("plumbline_largest_gap", "Largest gap that rank and dimension allow: sqrt(2 min(r, d - r))"),
    GAP_SHARE("plumbline_gap_share_ratio", "Faithfulness gap as a share of the largest possible one"),
    CHANCE_NORMALISED_GAP(
            "plumbline_chance_normalised_gap",
            "Squared faithfulness gap divided by its expectation for two random subspaces: 1 is chance"),
    SUBSPACE_OVERLAP(
            "plumbline_subspace_overlap_ratio",
            "Overlap of the active and the explainer subspace: 1 is the same subspace"),
    PRINCIPAL_ANGLE(
            "plumbline_principal_angle_radians",
            "Smallest, median and largest principal angle between the active and the explainer subspace",
            "angle"),
    GAP_BOUND(
            "plumbline_gap_bound",
            "Bound on a gap; davis_kahan_* speak of the gap to the baseline, lower and upper of the faithfulness gap",
            "bound"),
    GAP_BOUND_VACUOUS(
            "plumbline_gap_bound_vacuous",
            "1 when the bound exceeds the largest possible gap and so says nothing, else 0",
            "bound"),
    GAP_BOUND_CERTIFIED(
            "plumbline_gap_bound_certified",
            "1 where the bound is a theorem in this window: as printed only where the shift is small enough, the others always",
            "bound"),
    THRESHOLD(
            "plumbline_threshold", "Level above which the statistic counts towards a drift or a warning", "statistic"),
    EIGENGAP("plumbline_eigengap", "Eigengap at the rank of the second moment of the baseline or the window", "moment"),
    SUBSPACE_SINE_BOUND(
            "plumbline_subspace_sine_bound",
            "Proven bound of the sine of the angle between the computed and the true active subspace of the window; 0 from a full decomposition"),
    SECOND_MOMENT_SHIFT(
            "plumbline_second_moment_shift",
            "Frobenius norm of the difference of the second moments of window and baseline"),
    SECOND_MOMENT_RELATIVE_SHIFT(
            "plumbline_second_moment_relative_shift",
            "Second-moment shift divided by the Frobenius norm of the baseline's second moment; may exceed 1"),
    WHITENED_MEAN_SHIFT(
            "plumbline_whitened_mean_shift",
            "Distance of the window's mean from the baseline's, in the baseline's own standard units"),
    RESIDUAL_ENERGY(
            "plumbline_residual_energy_ratio",
            "Share of the window's energy outside the active subspace of the baseline"),
    PROJECTION_LOSS("plumbline_projection_loss", "Energy of the window outside the explainer subspace, per row"),
    IRREDUCIBLE_LOSS("plumbline_irreducible_loss", "Energy of the window outside its own active subspace, per row"),
    EXPLAINER_DEPENDENT_LOSS(
            "plumbline_explainer_dependent_loss",
            "Projection loss minus irreducible loss: what a better subspace would win, per row"),
    EXPLAINER_DEPENDENT_SHARE(
            "plumbline_explainer_dependent_ratio", "Explainer-dependent loss as a share of the window's whole energy"),
    ETA("plumbline_eta_ratio", "Explainer-dependent loss as a share of the projection loss"),
    TOP_EIGENVALUE_SHARE(
            "plumbline_top_eigenvalue_share_ratio",
            "Share of the window's energy in its first eigenvector; near 1 one token or coordinate dominates"),
    ENERGY_CONCENTRATED(
            "plumbline_energy_concentrated",
            "1 while one eigenvalue holds more than half of the window's energy, else 0"),
    MASKED(
            "plumbline_masked_rows_ratio",
            "Rows taken out before everything else, by token id or norm, as a share of the window's rows that came",
            "reason"),
    FVU(
            "plumbline_fraction_of_variance_unexplained",
            "Fraction of variance unexplained on the window's sampled rows by the trained or the active decoder; may exceed 1",
            "decoder"),
    VERDICT("plumbline_verdict", "1 for the verdict in force for the site, 0 for the others", "verdict"),
    WARNING(
            "plumbline_warning",
            "1 while the statistics that warn are above their thresholds in enough of the last windows, else 0"),
    SEQUENTIAL_EVIDENCE(
            "plumbline_sequential_evidence_ratio",
            "Evidence of slow drift added up over windows, log(1 + evidence) / log(1 + level): 1 is an alarm",
            "statistic"),
    BASELINE_CREATED(
            "plumbline_baseline_created_timestamp_seconds",
            "When the baseline the site is judged by was made, in seconds since the epoch"),
    BASELINE_REVISION(
            "plumbline_baseline_revision",
            "Revision of the baseline the site is judged by: 1 for one that replaced none"),
    DECODER_VERSION("plumbline_decoder_version", "Version of the decoder in force for the site; 0 is the trained one");

    private final String metricName;
    private final String help;
    private final @Nullable String label;

    WindowMetric(String metricName, String help) {
        this(metricName, help, null);
    }

    WindowMetric(String metricName, String help, @Nullable String label) {
        this.metricName = metricName;
        this.help = help;
        this.label = label;
    }

    /** The name on the scrape. */
    public String metricName() {
        return metricName;
    }

    String help() {
        return help;
    }

    /** The label beside {@code site}, or null when a site has one value only. */
    public @Nullable String label() {
        return label;
    }

    boolean isRatio() {
        return metricName.endsWith("_ratio");
    }

    MetricFamilyDescriptor descriptor() {
        return MetricFamilyDescriptor.gauge(metricName)
                .help(help)
                .labelNames(label == null ? List.of("site") : List.of("site", label))
                .build();
    }
}
