package io.plumbline.topology.report;

import io.plumbline.geometry.Statistic;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One family of per-window values: its Prometheus name, its HELP text, and the label it carries beside {@code site}, if
 * any. A {@link Statistic} has a family of its own, made of its entry, or is a series of one that stands here.
 *
 * <p>All are gauges that speak of the newest closed window of a site. {@code _ratio} is kept for values that cannot
 * leave {@code [0, 1]}; relative sizes that can grow beyond 1 (relative shift, fraction of variance unexplained) do not
 * carry it. Gaps and bounds are dimensionless; energies are in squared activation units, which have no name.
 *
 * @param metricName the name on the scrape
 * @param label the label beside {@code site}, or null when a site has one value only
 */
public record WindowMetric(
        String metricName, String help, @Nullable String label) {

    private static final Map<String, WindowMetric> FAMILIES = new LinkedHashMap<>();

    public static final WindowMetric WINDOW_START =
            family("plumbline_window_start_timestamp_seconds", "Event time at which the newest closed window begins");
    public static final WindowMetric WINDOW_END =
            family("plumbline_window_end_timestamp_seconds", "Event time at which the newest closed window ends");
    public static final WindowMetric ROWS =
            family("plumbline_window_rows", "Activation rows in the newest closed window");
    public static final WindowMetric RANK =
            family("plumbline_window_rank", "Rank r of the subspaces that are compared");
    public static final WindowMetric DIMENSION =
            family("plumbline_window_dimension", "Width d of the target space of the site");
    public static final WindowMetric ACTIVE_FAITHFULNESS_GAP = family(
            "plumbline_active_faithfulness_gap",
            "Faithfulness gap of the decoder in service, where plumbline_faithfulness_gap is that of the trained one");
    public static final WindowMetric PRINCIPAL_ANGLE = family(
            "plumbline_principal_angle_radians",
            "Smallest, median and largest principal angle between the active and the explainer subspace",
            "angle");
    public static final WindowMetric GAP_BOUND = family(
            "plumbline_gap_bound", "Lower and upper bound on the faithfulness gap, proven in every window", "bound");
    public static final WindowMetric GAP_BOUND_VACUOUS = family(
            "plumbline_gap_bound_vacuous",
            "1 when the bound exceeds the largest possible gap and so says nothing, else 0",
            "bound");
    public static final WindowMetric CERTIFIED = family(
            "plumbline_gap_bound_certified",
            "1 where the shift is so small that the printed bound on the gap to the baseline is a theorem, else 0");
    public static final WindowMetric THRESHOLD = family(
            "plumbline_threshold", "Level above which the statistic counts towards a drift or a warning", "statistic");
    public static final WindowMetric FALSE_ALARM_INTERVAL = family(
            "plumbline_false_alarm_interval_seconds",
            "Average time between two false alarms that the thresholds promise, by the baseline's clean windows or "
                    + "by its requests",
            "clean");
    public static final WindowMetric EIGENGAP = family(
            "plumbline_eigengap", "Eigengap at the rank of the second moment of the baseline or the window", "moment");
    public static final WindowMetric ENERGY_CONCENTRATED = family(
            "plumbline_energy_concentrated",
            "1 while one eigenvalue holds more than half of the window's energy, else 0");
    public static final WindowMetric MASKED = family(
            "plumbline_masked_rows_ratio",
            "Rows taken out before everything else, by token id or norm, as a share of the window's rows that came",
            "reason");
    public static final WindowMetric FVU = family(
            "plumbline_fraction_of_variance_unexplained",
            "Fraction of the variance of sampled rows that the decoder leaves unexplained; may exceed 1",
            "decoder");
    public static final WindowMetric DELTA_CE = family(
            "plumbline_delta_ce",
            "Cross-entropy of the model's next token with the decoder's account in place, less that of the model "
                    + "itself, in nats",
            "decoder");
    public static final WindowMetric KL = family(
            "plumbline_kl",
            "Divergence of the model's next token from that with the decoder's account in place, in nats",
            "decoder");
    public static final WindowMetric TOP1_AGREEMENT = family(
            "plumbline_top1_agreement_ratio",
            "Share of rows after which the decoder's account leaves the most likely next token as it was",
            "decoder");
    public static final WindowMetric LOSS_RECOVERED = family(
            "plumbline_loss_recovered",
            "Part of the cross-entropy lost with zeros in place that the decoder's account wins back; may leave 0 to "
                    + "1",
            "decoder");
    public static final WindowMetric VERDICT =
            family("plumbline_verdict", "1 for the verdict in force for the site, 0 for the others", "verdict");
    public static final WindowMetric DECIDING = family(
            "plumbline_deciding_statistic",
            "Value of the statistic that decides in the newest window: of those above their thresholds the farthest "
                    + "above",
            "statistic");
    public static final WindowMetric OVER_THRESHOLD = family(
            "plumbline_value_over_threshold",
            "plumbline_deciding_statistic divided by its threshold: above 1 it counts towards a drift",
            "statistic");
    public static final WindowMetric WORST_BLOCK =
            family("plumbline_worst_block", "1 for the target layer that stands worst in the newest window", "block");
    public static final WindowMetric WARNING = family(
            "plumbline_warning",
            "1 while the statistics that warn are above their thresholds in enough of the last windows, else 0");
    public static final WindowMetric SEQUENTIAL_EVIDENCE = family(
            "plumbline_sequential_evidence_ratio",
            "Evidence of slow drift added up over windows, log(1 + evidence) / log(1 + level): 1 is an alarm",
            "statistic");
    public static final WindowMetric BASELINE_CREATED =
            family("plumbline_baseline_created_timestamp_seconds", "When the baseline the site is judged by was made");
    public static final WindowMetric BASELINE_REVISION = family(
            "plumbline_baseline_revision",
            "Revision of the baseline the site is judged by: 1 for one that replaced none");
    public static final WindowMetric DECODER_VERSION =
            family("plumbline_decoder_version", "Version of the decoder in force for the site; 0 is the trained one");

    static {
        for (Statistic statistic : Statistic.shown()) {
            Statistic.Series series = statistic.series();
            if (series.label() == null) {
                family(series.metric(), statistic.help());
            }
        }
    }

    /** Returns every family, those of sections last. */
    public static List<WindowMetric> all() {
        Sections.load();
        return List.copyOf(FAMILIES.values());
    }

    /**
     * The family a statistic is exported in.
     *
     * @throws IllegalStateException if it is a series of a shared family that does not stand here
     */
    public static WindowMetric of(Statistic statistic) {
        Statistic.Series series = statistic.series();
        WindowMetric family = FAMILIES.get(series.metric());
        if (family == null) {
            throw new IllegalStateException("%s is exported as %s, which is no family of WindowMetric"
                    .formatted(statistic.label(), series.metric()));
        }
        return family;
    }

    static WindowMetric family(String metricName, String help) {
        return family(metricName, help, null);
    }

    static WindowMetric family(String metricName, String help, @Nullable String label) {
        WindowMetric family = new WindowMetric(metricName, help, label);
        if (FAMILIES.put(metricName, family) != null) {
            throw new IllegalStateException("two families are called " + metricName);
        }
        return family;
    }

    /** Returns whether the values cannot leave [0, 1]. */
    public boolean isRatio() {
        return metricName.endsWith("_ratio");
    }
}
