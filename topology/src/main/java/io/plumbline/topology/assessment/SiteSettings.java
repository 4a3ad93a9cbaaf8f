package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.MaskRules;
import io.plumbline.probes.WatchSettings;
import io.plumbline.records.HiddenLayers;
import io.plumbline.topology.ingest.SiteId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says what is watched at one site, and when it counts as drifted.
 *
 * @param id the site; model servers send their rows under the name of the configured one
 * @param explained what explains it, and how its rows are read
 * @param alarms when it counts as drifted
 * @param refits what a drift asks for
 * @param coverage when a window is marked because its rows are another part of the traffic than usual
 * @param breakdownBy the header or tag by whose values the rows of each window are compared; null: none
 * @param features what is said of its features
 * @param downstream the rest of its model; null: none is named
 * @param watch what its users rely on
 */
public record SiteSettings(
        SiteId id,
        Explained explained,
        Alarms alarms,
        Refits refits,
        CoverageRule coverage,
        @Nullable String breakdownBy,
        FeatureSettings features,
        @Nullable DownstreamSettings downstream,
        WatchSettings watch) {

    /**
     * Names what explains a site, and how its rows are read.
     *
     * @param explainer folder of the trained explainer, or its file; {@code none} where records bring reconstructions
     * @param options facts about it that are in none of its files
     * @param baseline file written by {@code plumbline baseline}
     * @param rank r, of every subspace that is compared
     * @param mask rows that enter no sum; the same as the baseline's
     * @param hiddenStates which layers the records' hidden states hold, and which one is the site's; null: that one
     *     alone
     * @param encodedRows at most so many rows of a window are encoded to measure reconstruction, see
     *     {@link EncodedRowsRule}
     * @param candidate an explainer that may take its place; null: none
     */
    public record Explained(
            Path explainer,
            ExplainerOptions options,
            Path baseline,
            int rank,
            MaskRules mask,
            @Nullable HiddenLayers hiddenStates,
            int encodedRows,
            @Nullable Candidate candidate) {

        /** Returns whether there is an explainer to read; where not, records bring reconstructions. */
        public boolean hasExplainer() {
            return !GivenReconstructions.isNamedBy(explainer);
        }

        /** Returns this for one target layer of the explainer, whose baseline lies in the folder of all. */
        private Explained of(int target) {
            return new Explained(
                    explainer,
                    options.ofTarget(target),
                    baseline.resolve("targets.%d.safetensors".formatted(target)),
                    rank,
                    mask,
                    hiddenStates,
                    encodedRows,
                    null);
        }
    }

    /**
     * Names an explainer that is measured beside the one in service, and may take its place.
     *
     * @param explainer folder of it, or its file
     * @param options facts about it that are in none of its files
     * @param baseline file written by {@code plumbline baseline} with it, of the same recording as the site's; null: it
     *     is measured and never proposed
     * @param features what is said of its features; without labels, those of features that are found again
     * @param better in how many of the last windows it must reconstruct better before it is proposed
     */
    public record Candidate(
            Path explainer,
            ExplainerOptions options,
            @Nullable Path baseline,
            FeatureSettings features,
            DriftPolicy better) {

        /** Reads the explainer. */
        public Explainer read() throws IOException {
            return Explainers.read(explainer, options);
        }

        /** Reads the baseline; null where there is none. */
        public @Nullable Baseline readBaseline() throws IOException {
            return baseline == null ? null : Baseline.read(baseline);
        }
    }

    /**
     * Says when a site counts as drifted.
     *
     * @param triggers the statistics that decide, by name, see
     *     {@link io.plumbline.geometry.GapAssessment#statisticNames}
     * @param threshold above it a window counts against the site
     * @param clear at or below it a drifted site counts as recovering; null: the threshold itself
     * @param warn the statistics that warn and ask for nothing; may be empty
     * @param warnThreshold above it a window speaks for a warning
     * @param sequential what is added up over windows; null: nothing
     * @param debounce how many of the last windows must be over the threshold before the site is declared drifted
     * @param minimumRows windows with fewer rows are undecided
     * @param model whose sites are judged as one with this one; null: it is judged by itself
     */
    public record Alarms(
            List<String> triggers,
            Threshold threshold,
            @Nullable Threshold clear,
            List<String> warn,
            Threshold warnThreshold,
            @Nullable SequentialRule sequential,
            DriftPolicy debounce,
            int minimumRows,
            @Nullable String model) {
        public Alarms {
            triggers = List.copyOf(triggers);
            warn = List.copyOf(warn);
        }
    }

    /**
     * Says what a drift asks for.
     *
     * @param adapts whether it asks for an adapted decoder; if not, the site is only watched
     * @param cooldown least event time between two refits of the site
     * @param rollback in how many of the first windows after a swap the decoder may do significantly worse than the
     *     trained one before its return is asked for; null: never
     */
    public record Refits(
            boolean adapts, Duration cooldown, @Nullable DriftPolicy rollback) {}

    /**
     * Decides when a window is marked because its rows are another part of the traffic than usual.
     *
     * @param limit how far the delivered or the cached share may be from the expected one, in [0, 1]
     * @param delivered expected share of the tokens that come as rows, in [0, 1]; null: the mean of the first windows
     * @param cached expected share of the tokens that a prefix cache keeps, in [0, 1]; null: the mean of the first
     *     windows
     */
    public record CoverageRule(
            double limit,
            @Nullable Double delivered,
            @Nullable Double cached) {

        /** The default rule: a tenth, from what the first windows have. */
        public static final CoverageRule STANDARD = new CoverageRule(0.1, null, null);
    }

    public SiteSettings {
        if (explained.rank() < 1 || refits.cooldown().isNegative() || alarms.minimumRows() < explained.rank()) {
            throw new IllegalArgumentException("site %s: rank %d, cooldown %s and at least %d rows do not fit together"
                    .formatted(id.name(), explained.rank(), refits.cooldown(), alarms.minimumRows()));
        }
    }

    /** Returns the settings of this site or of one of its blocks, whose baseline lies in the folder of all. */
    public SiteSettings of(SiteId watched) {
        Integer target = watched.target();
        return target == null
                ? this
                : new SiteSettings(
                        watched,
                        explained.of(target),
                        alarms,
                        refits,
                        coverage,
                        breakdownBy,
                        features,
                        downstream,
                        watch);
    }

    /**
     * Returns the settings of this site explained by its candidate.
     *
     * @param baseline the one that the candidate has
     * @param features what is watched of it
     */
    public SiteSettings ofCandidate(Candidate candidate, Path baseline, WatchSettings features) {
        return new SiteSettings(
                id,
                new Explained(
                        candidate.explainer(),
                        candidate.options(),
                        baseline,
                        explained.rank(),
                        explained.mask(),
                        explained.hiddenStates(),
                        explained.encodedRows(),
                        null),
                alarms,
                refits,
                coverage,
                breakdownBy,
                candidate.features(),
                downstream,
                features);
    }

    /** Returns the name in keys, reports and metrics. */
    public String site() {
        return id.name();
    }
}
