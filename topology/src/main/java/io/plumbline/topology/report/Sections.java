package io.plumbline.topology.report;

import com.fasterxml.jackson.core.type.TypeReference;
import io.plumbline.features.ActivityChanges;
import io.plumbline.features.FailingFeature;
import io.plumbline.topology.report.SectionKind.Shown;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The sections of one report, beside its header, its verdict and its statistics; a section that the window does not
 * have is absent, and null in JSON. Immutable.
 *
 * <p>A new section is the class of what it holds and a constant here; what measures it is a {@code Measure} of the
 * stage that assesses windows. The page draws a section that it has no drawing for as lines and tables of its keys.
 */
public final class Sections {

    private static final List<SectionKind<?>> LIST = new ArrayList<>();

    public static final SectionKind<List<WorstRequest>> WORST_REQUESTS = kind(
            "worst_requests",
            "the requests farthest from the baseline's, farthest first; empty where none was scored",
            new TypeReference<>() {},
            Shown.NEWEST_DRIFTED);

    public static final SectionKind<CoverageReport> COVERAGE = kind(
            "coverage",
            "what part of the served tokens came as rows; null where no producer says how many were served",
            new TypeReference<>() {},
            Shown.EACH_WINDOW,
            CoverageReport.SAMPLES);

    public static final SectionKind<DriftCause> CAUSE = kind(
            "cause",
            "while the site is drifted: what changed with the drift; null otherwise",
            new TypeReference<>() {},
            Shown.NOWHERE,
            DriftCause.SAMPLES);

    public static final SectionKind<Breakdown> BREAKDOWN = kind(
            "breakdown",
            "the rows by the values of the site's `breakdown_by`; null without it, or where no producer says a value",
            new TypeReference<>() {},
            Shown.EACH_WINDOW,
            Breakdown.SAMPLES);

    public static final SectionKind<EnginesReport> ENGINES = kind(
            "engines",
            "[two engines](#engines) compared on the same requests, where `breakdown_by` tells them apart; "
                    + "null where one served the window",
            new TypeReference<>() {},
            Shown.NEWEST,
            EnginesReport.SAMPLES);

    public static final SectionKind<String> ENERGY_WARNING = kind(
            "energy_warning",
            "a sentence, when one eigenvalue holds more than half of the window's energy",
            new TypeReference<>() {},
            Shown.EACH_WINDOW);

    public static final SectionKind<Repeats> REPEATS = kind(
            "repeats",
            "while the site is drifted: what was sent again; null otherwise",
            new TypeReference<>() {},
            Shown.NEWEST_DRIFTED);

    public static final SectionKind<Groups> GROUPS = kind(
            "groups",
            "[groups](../concepts/groups.md) of like requests in the last windows; null without totals of requests",
            new TypeReference<>() {},
            Shown.NEWEST,
            Groups.SAMPLES);

    public static final SectionKind<List<FailingFeature>> FAILING_FEATURES = kind(
            "failing_features",
            "while the site is drifted: the features whose decoder columns are wrong, worst first",
            new TypeReference<>() {},
            Shown.NEWEST_DRIFTED);

    public static final SectionKind<ActivityChanges> FEATURE_ACTIVITY = kind(
            "feature_activity",
            "the features that are [active more or less often](#feature-activity) than on the baseline's rows",
            new TypeReference<>() {},
            Shown.NEWEST,
            ActivitySamples.SAMPLES);

    public static final SectionKind<WatchedReport> WATCHED = kind(
            "watched",
            "whether [what somebody relies on](#watched) is hurt: watched features, and what the model does",
            new TypeReference<>() {},
            Shown.NEWEST,
            WatchedReport.SAMPLES);

    public static final SectionKind<CandidateReport> CANDIDATE = kind(
            "candidate",
            "how [another explainer](#candidate) does beside the one in service; null where the site names none",
            new TypeReference<>() {},
            Shown.NEWEST,
            CandidateReport.SAMPLES);

    public static final SectionKind<Map<Integer, FeatureName>> FEATURE_NAMES = kind(
            "feature_names",
            "`label` and `link` of the features that the report lists, by index; only of those that have one",
            new TypeReference<>() {},
            Shown.NOWHERE);

    public static final SectionKind<DownstreamReport> DOWNSTREAM = kind(
            "downstream",
            "what the rest of the model did with whole requests of the window; null where the site names none",
            new TypeReference<>() {},
            Shown.NEWEST,
            DownstreamReport.SAMPLES);

    public static final SectionKind<Spectrum> SPECTRUM = kind(
            "spectrum",
            "eigenvalues of window and baseline, and the angles between them",
            new TypeReference<>() {},
            Shown.NEWEST);

    /** All kinds, in the order of their keys in JSON. */
    public static final List<SectionKind<?>> ALL = Collections.unmodifiableList(LIST);

    /** Holds nothing. */
    public static final Sections NONE = new Sections(Map.of());

    private final Map<SectionKind<?>, Object> values;

    private Sections(Map<SectionKind<?>, Object> values) {
        this.values = values;
    }

    /** Makes sure that every section has registered its metric families, which it does when its class is loaded. */
    static void load() {}

    private static <V> SectionKind<V> kind(String key, String help, TypeReference<V> type, Shown shown) {
        return kind(key, help, type, shown, (value, samples) -> {});
    }

    private static <V> SectionKind<V> kind(
            String key, String help, TypeReference<V> type, Shown shown, BiConsumer<V, Samples> samples) {
        SectionKind<V> kind = new SectionKind<>(key, help, type, shown, samples);
        LIST.add(kind);
        return kind;
    }

    /** Returns these with one more; the same where its value is null. */
    public <V> Sections with(SectionKind<V> kind, @Nullable V value) {
        if (value == null) {
            return this;
        }
        Map<SectionKind<?>, Object> more = new HashMap<>(values);
        more.put(kind, value);
        return new Sections(more);
    }

    /** Returns what a section holds; null where the window does not have it. */
    @SuppressWarnings("unchecked") // with puts only values of the kind's type
    public <V> @Nullable V get(SectionKind<V> kind) {
        return (V) values.get(kind);
    }

    /** Returns what the page shows in this place, by key in their order; null where the window does not have it. */
    public Map<String, @Nullable Object> shown(Shown where) {
        Map<String, @Nullable Object> shown = new LinkedHashMap<>();
        ALL.stream().filter(kind -> kind.shown() == where).forEach(kind -> shown.put(kind.key(), get(kind)));
        return shown;
    }

    /** Adds what the sections say to the metrics. */
    public void addTo(Samples samples) {
        ALL.forEach(kind -> kind.addTo(this, samples));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Sections sections && values.equals(sections.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString();
    }
}
