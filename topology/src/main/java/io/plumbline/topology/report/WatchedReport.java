package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Says whether what the users of a site rely on is hurt: its watched features, and what its model does. */
public record WatchedReport(
        @JsonPropertyDescription("`watched`: something that is watched has changed beyond chance; `behaviour`: only "
                + "the KL of `downstream` is above its threshold; `none`; `unknown`: not all of it could be "
                + "tested, or so few requests were that no change could be found")
        Harm harm,

        @JsonPropertyDescription("what has changed, surest first")
        List<Hurt> hurt,

        @JsonPropertyDescription("requests of the window that are compared")
        int requests,

        @JsonPropertyDescription("requests whose rows the baseline keeps")
        int requestsBaseline,

        @JsonPropertyDescription("the features under `watch`, in their order")
        List<OfFeature> features,

        @JsonPropertyDescription("the probes under `watch`, in their order")
        List<OfProbe> probes) {

    /** Says who is hurt. */
    public enum Harm {
        NONE,
        WATCHED,
        BEHAVIOUR,
        UNKNOWN;

        /** Returns the name in JSON and metrics. */
        @JsonValue
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A number that has changed. */
    public record Hurt(
            @JsonPropertyDescription("`feature` and its index, the name of a probe, or `model`")
            String name,

            @JsonPropertyDescription("the number: a key of `features` or `probes`, or `kl`")
            String what,

            @JsonPropertyDescription("its value on the baseline's rows; of `kl` the threshold") @Nullable
            Double baseline,

            @JsonPropertyDescription("its value in the window")
            double window,

            @JsonPropertyDescription(
                    "the rate at which it is found, among all that is watched at the site; " + "null for `kl`")
            @Nullable
            Double qValue) {}

    /** A watched feature. */
    public record OfFeature(
            @JsonPropertyDescription("`feature` and its index")
            String name,

            @JsonPropertyDescription("its index: the row of `W_dec` as stored")
            int feature,

            @JsonPropertyDescription("whether one of its numbers has changed")
            boolean hurt,

            @JsonPropertyDescription("share of the rows on which it is active, as a mean over requests")
            Double rate,

            @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
            Double rateBaseline,

            @JsonPropertyDescription("mean of its code, zeros among them, as a mean over requests")
            Double activation,

            @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
            Double activationBaseline,

            @JsonPropertyDescription("the part of the error that goes with its code, as of a failing feature")
            Double systematicResidual,

            @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
            Double systematicResidualBaseline,

            @JsonPropertyDescription("the same of the requests of the window by their length, and by the value of "
                    + "`breakdown_by`; empty where all are alike")
            List<Part> parts,

            @JsonPropertyDescription("smallest q-value of the three; null where none is tested") @Nullable
            Double qValue) {

        public OfFeature {
            parts = List.copyOf(parts);
        }
    }

    /** A watched probe. */
    public record OfProbe(
            @JsonPropertyDescription("its name") String name,

            @JsonPropertyDescription("whether its rate or its score has changed")
            boolean hurt,

            @JsonPropertyDescription("whether it scores whole requests, pooled by attention, or rows")
            boolean pools,

            @JsonPropertyDescription("above it a score counts")
            double threshold,

            @JsonPropertyDescription("share of the rows above the threshold, as a mean over requests; "
                    + "of a probe that pools, share of the requests")
            Double rate,

            @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
            Double rateBaseline,

            @JsonPropertyDescription("mean score, as a mean over requests")
            Double score,

            @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
            Double scoreBaseline,

            @JsonPropertyDescription("the .05, .5 and .95 quantile of the scores")
            List<Double> quantiles,

            @JsonPropertyDescription("the same on the rows that the baseline keeps") @Nullable
            List<Double> quantilesBaseline,

            @JsonPropertyDescription(
                    "share of its read-out energy outside of the leading subspace of the window's rows "
                            + "that it reads; null where they are fewer than the rank")
            @Nullable
            Double outside,

            @JsonPropertyDescription("the same of the baseline's rows") @Nullable
            Double outsideBaseline,

            @JsonPropertyDescription("the same of the requests of the window by their length, and by the value of "
                    + "`breakdown_by`; empty where all are alike")
            List<Part> parts,

            @JsonPropertyDescription("smallest q-value of rate and score; null where neither is tested") @Nullable
            Double qValue) {

        public OfProbe {
            parts = List.copyOf(parts);
        }
    }

    /** A watched feature or probe on some requests of the window. Not tested: few requests are in each part. */
    public record Part(
            @JsonPropertyDescription("`length`, the rows of a request in the window, or the header")
            String by,

            @JsonPropertyDescription("a range of lengths, or the header's value")
            String value,

            @JsonPropertyDescription("how many requests") int requests,

            @JsonPropertyDescription("the rate on them") double rate,

            @JsonPropertyDescription("the mean code or score on them")
            double mean) {}

    private static final WindowMetric HARM = WindowMetric.family(
            "plumbline_site_harm",
            "1 for what the newest window hurts, of what is watched and of what the model does, 0 for the others",
            "harm");
    private static final WindowMetric HURT = WindowMetric.family(
            "plumbline_watched_hurt",
            "1 for a watched feature or probe that has changed beyond chance, else 0",
            "name");
    private static final WindowMetric RATE = WindowMetric.family(
            "plumbline_watched_rate_ratio",
            "Share of the rows on which a watched feature is active or a probe above its threshold",
            "name");
    private static final WindowMetric RATE_BASELINE = WindowMetric.family(
            "plumbline_watched_baseline_rate_ratio",
            "Share of the baseline's rows on which a watched feature is active or a probe above its threshold",
            "name");
    private static final WindowMetric MEAN = WindowMetric.family(
            "plumbline_watched_mean", "Mean code of a watched feature, zeros among them, or score of a probe", "name");
    private static final WindowMetric MEAN_BASELINE = WindowMetric.family(
            "plumbline_watched_baseline_mean",
            "Mean code of a watched feature, zeros among them, or score of a probe, on the baseline's rows",
            "name");
    private static final WindowMetric RESIDUAL = WindowMetric.family(
            "plumbline_watched_systematic_residual",
            "Part of the error that goes with the code of a watched feature, as a share of the targets' variance",
            "name");

    private static final WindowMetric OUTSIDE = WindowMetric.family(
            "plumbline_watched_outside_ratio",
            "Share of a watched probe's read-out energy outside of the window's leading subspace",
            "name");

    static final BiConsumer<WatchedReport, Samples> SAMPLES = (watched, samples) -> {
        for (Harm possible : Harm.values()) {
            samples.set(HARM, possible.label(), possible == watched.harm() ? 1 : 0);
        }
        for (OfFeature one : watched.features()) {
            samples.set(HURT, one.name(), one.hurt() ? 1 : 0)
                    .set(RATE, one.name(), one.rate())
                    .set(RATE_BASELINE, one.name(), one.rateBaseline())
                    .set(MEAN, one.name(), one.activation())
                    .set(MEAN_BASELINE, one.name(), one.activationBaseline())
                    .set(RESIDUAL, one.name(), one.systematicResidual());
        }
        for (OfProbe one : watched.probes()) {
            samples.set(HURT, one.name(), one.hurt() ? 1 : 0)
                    .set(RATE, one.name(), one.rate())
                    .set(RATE_BASELINE, one.name(), one.rateBaseline())
                    .set(MEAN, one.name(), one.score())
                    .set(MEAN_BASELINE, one.name(), one.scoreBaseline())
                    .set(OUTSIDE, one.name(), one.outside());
        }
    };

    public WatchedReport {
        hurt = List.copyOf(hurt);
        features = List.copyOf(features);
        probes = List.copyOf(probes);
    }
}
