package io.plumbline.topology.config;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.UsualRank;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.explainer.formats.FeatureLink;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.MaskRules;
import io.plumbline.probes.WatchSettings;
import io.plumbline.records.HiddenLayers;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.adaptation.SelectBy;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.assessment.FeatureSettings;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.SiteSettings.CoverageRule;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.DType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads one entry under {@code sites}. */
final class SiteReader {

    private static final List<String> HYPER_PARAMETERS =
            List.of("rank", "lambda_preservation", "lambda_geometric", "relative_lambdas", "alpha");
    private static final double DEFAULT_VALIDATION_SHARE = 0.25;
    private static final double LEAST_DISCOVERY_RATE = 1e-6;
    private static final DriftPolicy DEFAULT_BETTER = new DriftPolicy(3, 5);
    private static final Duration DEFAULT_RUN_LENGTH = Duration.ofDays(90);
    private static final Duration DEFAULT_COOLDOWN = Duration.ofMinutes(10);

    private enum Profile {
        AUTO,
        PAPER
    }

    private final ConfigReader reader;
    private final WindowSettings window;
    private final int minimumRows;
    private final int sampleRows;
    private final int encodedRows;
    private final List<String> problems;

    SiteReader(
            ConfigReader reader,
            WindowSettings window,
            int minimumRows,
            int sampleRows,
            int encodedRows,
            List<String> problems) {
        this.reader = reader;
        this.window = window;
        this.minimumRows = minimumRows;
        this.sampleRows = sampleRows;
        this.encodedRows = encodedRows;
        this.problems = problems;
    }

    /**
     * Returns the settings of a site, or null where so much is wrong that none can be made; the mistakes are then on
     * the list.
     */
    @Nullable
    SiteSettings site(String site, ConfigNode node, SwapRules swaps, ModelsReader.@Nullable Read model) {
        int before = problems.size();
        String explainer = node.required("explainer", "", "the folder of the trained explainer");
        boolean given = explainer != null && GivenReconstructions.NAME.equals(explainer);
        if (given && swaps.adapts()) {
            node.problem(
                    "explainer",
                    explainer,
                    "expected adaptation: {mode: observe} beside it: records bring reconstructions, "
                            + "and there is no decoder to refit");
        }
        ExplainerOptions options = node.has("explainer_options")
                ? explainerOptions(node.child("explainer_options"))
                : ExplainerOptions.NONE;
        String baseline = node.required("baseline", "", "a file written by `plumbline baseline`");
        node.required("rank", "1", "how many leading directions to compare: " + UsualRank.RULE);
        int rank = node.integer("rank", 1, 1);
        if (rank > minimumRows) {
            node.problem(
                    "rank",
                    rank,
                    "expected at most window.minimum_rows (%d): fewer rows than the rank span no such subspace"
                            .formatted(minimumRows));
        }
        if (swaps.adapts() && rank > sampleRows) {
            node.problem(
                    "rank", rank, "expected at most sample.rows (%d), which a refit is made of".formatted(sampleRows));
        }
        // In this order whether or not a trigger is written, so that the effective configuration reads as itself.
        boolean ofTheGap = isInUnitsOfTheGap(node, "threshold") || isInUnitsOfTheGap(node, "clear");
        List<String> warn = statistics(node, "warn");
        List<String> triggers = statistics(node, "trigger");
        if (triggers.isEmpty()) {
            triggers = DriftJudge.defaultTriggers(!ofTheGap, warn);
            node.showDefault("trigger", triggers);
        }
        for (String both : warn) {
            if (triggers.contains(both)) {
                node.problem(
                        "warn", both, "expected other statistics than those under trigger, which say more already");
            }
        }
        MaskRules mask = node.has("mask") ? mask(node.child("mask")) : MaskRules.NONE;
        HiddenLayers hiddenStates = node.has("hidden_states") ? hiddenStates(node.child("hidden_states")) : null;
        DriftPolicy debounce = node.parsed("debounce", DriftPolicy.STANDARD, AlarmText::debounce);
        ThresholdReader thresholds = new ThresholdReader(triggers, rank, law(debounce));
        if (model != null && node.has("threshold")) {
            node.problem(
                    "threshold", "is that of the model: expected it under models.%s alone".formatted(model.model()));
        }
        Threshold threshold = model == null ? thresholds.threshold(node, "threshold") : model.threshold();
        Threshold clear = thresholds.clear(node, threshold);
        Threshold warnThreshold = new ThresholdReader(warn, rank, law(debounce)).threshold(node, "warn_threshold");
        if (node.has("warn_threshold") && warn.isEmpty()) {
            node.problem("warn_threshold", "has nothing to warn: expected it beside warn, a list of statistics");
        }
        SequentialRule sequential = node.has("sequential") ? sequential(node.child("sequential")) : null;
        FeatureSettings features = features(node.child("features"));
        CoverageRule coverage = coverage(node.child("coverage"));
        String breakdownBy = breakdownBy(node);
        DownstreamSettings downstream =
                downstream(node, given, triggers, warn, sequential == null ? List.of() : sequential.statistics());
        WatchSettings watch = WatchReader.read(node.child("watch"), reader);
        if (given && node.has("watch")) {
            node.problem(
                    "watch", "expected an explainer beside it: where records bring reconstructions nothing is watched");
        }
        SiteSettings.Candidate candidate = candidate(node, given, model);
        Duration cooldown = node.duration("cooldown", DEFAULT_COOLDOWN);
        if (problems.size() > before) {
            return null;
        }
        SiteSettings.Explained explained = new SiteSettings.Explained(
                given ? Path.of(GivenReconstructions.NAME) : reader.path(node, "explainer", explainer),
                options,
                reader.path(node, "baseline", baseline),
                rank,
                mask,
                hiddenStates,
                encodedRows,
                candidate);
        SiteSettings.Alarms alarms = new SiteSettings.Alarms(
                triggers,
                threshold,
                clear,
                warn,
                warnThreshold,
                sequential,
                debounce,
                minimumRows,
                model == null ? null : model.model());
        return new SiteSettings(
                new SiteId(site, null),
                explained,
                alarms,
                new SiteSettings.Refits(swaps.adapts(), cooldown, swaps.rollback()),
                coverage,
                breakdownBy,
                features,
                downstream,
                watch);
    }

    private SiteSettings.@Nullable Candidate candidate(
            ConfigNode site, boolean given, ModelsReader.@Nullable Read model) {
        List<ConfigNode> nodes = site.mappings("candidate", "explainer");
        if (nodes.isEmpty()) {
            return null;
        }
        String alone = nodes.size() > 1
                ? "expected one explainer"
                : given
                        ? "expected an explainer beside it: where records bring reconstructions none can take its place"
                        : site.has("targets")
                                ? "expected a site with one target: decoders of several are swapped together"
                                : model != null
                                        ? "expected a site of no model: clean windows of its other sites are judged "
                                                + "with those of this explainer"
                                        : null;
        if (alone != null) {
            site.problem("candidate", alone);
        }
        ConfigNode node = site.isMapping("candidate") ? site.child("candidate") : nodes.get(0);
        String explainer = node.required("explainer", "", "the folder of the explainer that may take the site's place");
        ExplainerOptions options = node.has("explainer_options")
                ? explainerOptions(node.child("explainer_options"))
                : ExplainerOptions.NONE;
        String baseline = node.textOrNull("baseline");
        FeatureSettings features = features(node.child("features"));
        DriftPolicy better = node.parsed("better", DEFAULT_BETTER, AlarmText::debounce);
        node.refuseUnknownKeys();
        return explainer == null || explainer.isEmpty()
                ? null
                : new SiteSettings.Candidate(
                        reader.path(node, "explainer", explainer),
                        options,
                        baseline == null ? null : reader.path(node, "baseline", baseline),
                        features,
                        better);
    }

    private @Nullable DownstreamSettings downstream(
            ConfigNode node, boolean given, List<String> triggers, List<String> warn, List<String> sequential) {
        if (node.has("downstream")) {
            DownstreamSettings downstream = DownstreamReader.read(node.child("downstream"), reader);
            if (given) {
                node.problem(
                        "downstream",
                        "expected an explainer beside it: what a site's own reconstructions do to the model is not "
                                + "measured");
            }
            return downstream;
        }
        for (Statistic statistic : WindowBehaviour.STATISTICS) {
            String label = statistic.label();
            if (triggers.contains(label) || warn.contains(label) || sequential.contains(label)) {
                node.problem(
                        triggers.contains(label) ? "trigger" : warn.contains(label) ? "warn" : "sequential",
                        label,
                        "expected only beside downstream: {head: FILE} or {worker: ADDRESS}, "
                                + "the rest of the model that it is"
                                + " measured with");
            }
        }
        return null;
    }

    private ExplainerOptions explainerOptions(ConfigNode node) {
        Map<String, String> values = new TreeMap<>();
        for (String key : node.keys()) {
            String value = node.textOrNull(key);
            values.put(key, value == null ? "" : value);
        }
        try {
            return new ExplainerOptions(values);
        } catch (IllegalArgumentException refused) {
            problems.add("explainer_options: " + refused.getMessage());
            return ExplainerOptions.NONE;
        }
    }

    private FeatureSettings features(ConfigNode node) {
        double rate = node.real(
                "false_discovery_rate", FeatureSettings.DEFAULTS.falseDiscoveryRate(), LEAST_DISCOVERY_RATE, 0.5);
        String labels = node.textOrNull("labels");
        FeatureLink link = link(node);
        node.refuseUnknownKeys();
        return new FeatureSettings(rate, labels == null ? null : reader.path(node, "labels", labels), link);
    }

    private static @Nullable FeatureLink link(ConfigNode node) {
        String text = node.textOrNull("link");
        try {
            return text == null ? null : new FeatureLink(text);
        } catch (IllegalArgumentException refused) {
            node.problem("link", text, String.valueOf(refused.getMessage()));
            return null;
        }
    }

    private static boolean isInUnitsOfTheGap(ConfigNode node, String key) {
        return node.has(key) && (!node.isMapping(key) || node.child(key).has("share"));
    }

    AdaptationSettings adaptation(ConfigNode node, SwapRules swaps) {
        AdaptationProfile profile = profile(node);
        GateLimits standard = GateLimits.DEFAULTS;
        GateLimits limits = new GateLimits(
                node.real("minimum_improvement", standard.minimumImprovement(), 0.0, 0.99),
                node.real("max_gap_growth", standard.maximumGapGrowth(), 0.0, 1.0),
                node.real("minimum_cosine", standard.minimumCosine(), -1.0, 1.0),
                node.real("max_norm_ratio", standard.maximumNormRatio(), 1.0, Double.MAX_VALUE),
                node.real("changed_features", standard.changedFeatures(), 0.0, 1.0),
                node.real("max_id_cost", standard.maximumIdCost(), 0.0, Double.MAX_VALUE));
        double validation = node.real("validation_share", DEFAULT_VALIDATION_SHARE, 0.05, 0.4);
        return new AdaptationSettings(
                profile,
                limits,
                validation,
                selectBy(node, profile),
                node.parsed("dtype", DType.F32, SiteReader::decoderType),
                pooledRows(node),
                node.duration("pooled_age", AdaptationSettings.DEFAULT_POOLED_AGE));
    }

    private static SelectBy selectBy(ConfigNode node, AdaptationProfile profile) {
        SelectBy selectBy = node.choice("select_by", SelectBy.FVU, SelectBy.class);
        if (selectBy == SelectBy.KL && !(profile instanceof AdaptationProfile.Auto)) {
            node.problem("select_by", "kl", "expected only with profile: auto; paper has one candidate");
        }
        return selectBy;
    }

    /** Refuses to choose by the model where there is none that the gate asks. */
    static void requireModel(ConfigNode node, AdaptationSettings adaptation, SiteSettings site) {
        DownstreamSettings downstream = site.downstream();
        if (adaptation.selectBy() == SelectBy.KL && (downstream == null || !downstream.gate())) {
            node.problem(
                    "select_by",
                    "kl",
                    "expected only beside downstream: {head: FILE} or {worker: ADDRESS} of the site, "
                            + "the rest of the model that"
                            + " the KL is measured with, and not with gate: false in it");
        }
    }

    /** Returns how many rows may be pooled: at least those of one window, whose sample is fitted on whole. */
    private int pooledRows(ConfigNode node) {
        int least = Math.max(2, sampleRows);
        return node.integer("pooled_rows", Math.max(AdaptationSettings.DEFAULT_POOLED_ROWS, least), least);
    }

    private static AdaptationProfile profile(ConfigNode node) {
        Profile profile = node.choice("profile", Profile.AUTO, Profile.class);
        if (profile == Profile.AUTO) {
            for (String key : HYPER_PARAMETERS) {
                if (node.has(key)) {
                    node.problem(key, node.textOrNull(key), "expected only with profile: paper; auto chooses its own");
                }
            }
            return new AdaptationProfile.Auto();
        }
        node.required("rank", "1", "the rank of the fit; only profile: auto chooses its own");
        node.required("lambda_preservation", "0", "a number of at least 0");
        node.required("lambda_geometric", "0", "a number of at least 0");
        GaeSettings settings = new GaeSettings(
                node.integer("rank", 1, 1),
                Rotation.PRINTED,
                new Regularisation(
                        node.real("lambda_geometric", 0.0, 0.0, Double.MAX_VALUE),
                        node.real("lambda_preservation", 0.0, 0.0, Double.MAX_VALUE),
                        node.flag("relative_lambdas", false)),
                node.real("alpha", 0.0, 0.0, 1.0));
        return new AdaptationProfile.Paper(settings);
    }

    private static MaskRules mask(ConfigNode node) {
        List<Long> ids = new ArrayList<>();
        for (String text : node.texts("token_ids")) {
            try {
                ids.add(Long.valueOf(text));
            } catch (NumberFormatException notANumber) {
                node.problem("token_ids", text, "expected whole numbers, such as [101, 102]");
            }
        }
        Double cap = node.has("norm_cap") ? Double.valueOf(node.real("norm_cap", 0.0, 0.0, Double.MAX_VALUE)) : null;
        node.refuseUnknownKeys();
        try {
            return new MaskRules(ids, cap);
        } catch (IllegalArgumentException refused) {
            node.problem(
                    "norm_cap", cap, "expected a number above 1, how many times the baseline's median row is too long");
            return MaskRules.NONE;
        }
    }

    private static HiddenLayers.Axes axes(String text) {
        return switch (text) {
            case "tokens_first" -> HiddenLayers.Axes.TOKENS_FIRST;
            case "layers_first" -> HiddenLayers.Axes.LAYERS_FIRST;
            default -> throw new IllegalArgumentException("expected tokens_first or layers_first");
        };
    }

    private static @Nullable HiddenLayers hiddenStates(ConfigNode node) {
        List<Integer> layers = new ArrayList<>();
        for (String text : node.texts("layers")) {
            try {
                layers.add(Integer.valueOf(text));
            } catch (NumberFormatException notANumber) {
                node.problem("layers", text, "expected the engine's numbers of its layers, such as [3, 6]");
            }
        }
        node.required("layer", "0", "the one of the layers that is the site's");
        int layer = node.integer("layer", 0, 0);
        HiddenLayers.Axes axes =
                node.has("axes") ? node.parsed("axes", HiddenLayers.Axes.TOKENS_FIRST, SiteReader::axes) : null;
        node.refuseUnknownKeys();
        try {
            return new HiddenLayers(layers, layer, axes);
        } catch (IllegalArgumentException refused) {
            node.problem("layer", layer, "expected one of layers, and every layer listed once");
            return null;
        }
    }

    private static @Nullable String breakdownBy(ConfigNode node) {
        String name = node.textOrNull("breakdown_by");
        if (name == null) {
            return null;
        }
        if (name.isBlank() || name.length() > Origin.LONGEST || name.contains("=")) {
            node.problem(
                    "breakdown_by",
                    name,
                    "expected the name of a header or tag of producers, such as engine_version or tenant");
            return null;
        }
        return name.strip();
    }

    private static CoverageRule coverage(ConfigNode node) {
        CoverageRule rule = new CoverageRule(
                node.real("limit", CoverageRule.STANDARD.limit(), 0.0, 1.0),
                share(node, "delivered"),
                share(node, "cached"));
        node.refuseUnknownKeys();
        return rule;
    }

    private static @Nullable Double share(ConfigNode node, String key) {
        return node.has(key) ? Double.valueOf(node.real(key, 0.0, 0.0, 1.0)) : null;
    }

    /** The names under a key, each of them known and there once. */
    private static List<String> statistics(ConfigNode node, String key) {
        List<String> names = GapAssessment.statisticNames();
        List<String> read = node.texts(key);
        for (String text : read) {
            if (!names.contains(text)) {
                node.problem(
                        key,
                        text,
                        "did you mean %s? expected one of %s"
                                .formatted(Nearest.to(text, names), String.join(", ", names)));
            }
        }
        if (Set.copyOf(read).size() < read.size()) {
            node.problem(key, read, "expected every statistic once");
        }
        return read;
    }

    private @Nullable SequentialRule sequential(ConfigNode node) {
        List<String> watched = statistics(node, "statistics");
        if (watched.isEmpty()) {
            node.problem("statistics", "is missing: expected statistics to add up, such as [reconstruction_gap]");
        }
        if (watched.stream().anyMatch(DriftJudge::isNewGroup)) {
            node.problem(
                    "statistics", watched, "expected no new_group, which pools windows already; name it a trigger");
        }
        Duration runLength = node.duration("average_run_length", DEFAULT_RUN_LENGTH);
        if (runLength.compareTo(window.size().multipliedBy(2)) < 0) {
            node.problem(
                    "average_run_length",
                    DurationText.format(runLength),
                    "expected a time between false alarms of many windows: 90d is usual");
        }
        node.refuseUnknownKeys();
        return watched.isEmpty() ? null : SequentialRule.of(watched, runLength, window.size(), window.advance());
    }

    private AlarmLaw law(DriftPolicy debounce) {
        return new AlarmLaw(debounce, window.size(), window.advance());
    }

    private static DType decoderType(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "f32" -> DType.F32;
            case "f64" -> DType.F64;
            case "bf16" -> DType.BF16;
            case "f16" -> DType.F16;
            default -> throw new IllegalArgumentException("expected f64, f32, bf16 or f16");
        };
    }
}
