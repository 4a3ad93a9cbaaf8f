package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.features.FeatureActivity;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.SubspaceCache;
import io.plumbline.moments.MaskRules;
import io.plumbline.probes.Probe;
import io.plumbline.requests.RequestProjection;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A configured site with everything that does not depend on the window, read and computed once at start.
 *
 * <p><b>Memory:</b> the explainer in float64, the baseline's moment, and three eigenbases.
 *
 * @param probes what its users read its rows by
 * @param codes what the monitor and the adapter of this process need not both encode
 */
public record WatchedSite(
        SiteSettings settings,
        Explainer explainer,
        Baseline baseline,
        SiteGeometry geometry,
        FeatureNames names,
        List<Probe> probes,
        WindowCodes codes) {

    private static final Logger LOG = LoggerFactory.getLogger(WatchedSite.class);

    /** Creates a site without probes, of whose windows nothing is known. */
    public WatchedSite(
            SiteSettings settings, Explainer explainer, Baseline baseline, SiteGeometry geometry, FeatureNames names) {
        this(settings, explainer, baseline, geometry, names, List.of(), new WindowCodes());
    }

    /**
     * Reads explainer and baseline.
     *
     * @throws IllegalArgumentException when they do not belong together, saying how
     */
    public static WatchedSite read(SiteSettings settings) throws IOException {
        Baseline baseline = Baseline.read(settings.explained().baseline());
        return of(settings, explainer(settings, baseline, new SharedExplainers()), baseline);
    }

    /**
     * Returns sites by their names, each as {@link #read} does; blocks of one explainer share their encoders, and sites
     * of one model are judged as one.
     *
     * @throws IllegalArgumentException when the files of one do not belong together, saying how
     */
    public static Map<String, WatchedSite> readAll(Collection<SiteSettings> all) throws IOException {
        SharedExplainers explainers = new SharedExplainers();
        Map<String, Baseline> baselines = new LinkedHashMap<>();
        for (SiteSettings settings : all) {
            baselines.put(settings.site(), Baseline.read(settings.explained().baseline()));
        }
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : all) {
            Baseline baseline = judgedAsOne(settings, all, baselines);
            sites.put(settings.site(), of(settings, explainer(settings, baseline, explainers), baseline));
        }
        return sites;
    }

    /**
     * Returns the baseline of a site, with what the other sites of its model have in the same clean windows.
     *
     * @param all the sites of the configuration
     * @param baselines of each of them
     */
    public static Baseline judgedAsOne(
            SiteSettings settings, Collection<SiteSettings> all, Map<String, Baseline> baselines) {
        Baseline own = Objects.requireNonNull(baselines.get(settings.site()));
        String model = settings.alarms().model();
        if (model == null) {
            return own;
        }
        List<NullSample.OtherSite> others = all.stream()
                .filter(other ->
                        model.equals(other.alarms().model()) && !other.site().equals(settings.site()))
                .map(other -> new NullSample.OtherSite(
                        Objects.requireNonNull(baselines.get(other.site()))
                                .samplesOf(other.explained().rank()),
                        DriftJudge.withoutNewGroup(other.alarms().triggers())))
                .toList();
        try {
            return own.judgedWith(settings.explained().rank(), others);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException(
                    "model %s, site %s: %s".formatted(model, settings.site(), refused.getMessage()), refused);
        }
    }

    private static Explainer explainer(SiteSettings settings, Baseline baseline, SharedExplainers explainers)
            throws IOException {
        return settings.explained().hasExplainer()
                ? explainers.of(settings)
                : GivenReconstructions.of(
                        baseline.dimension(), settings.explained().options());
    }

    /** Puts parts together that were read before. */
    public static WatchedSite of(SiteSettings settings, Explainer explainer, Baseline baseline) {
        String sha256 = explainer.decoder().sha256();
        if (!baseline.explainerSha256().equals(sha256)) {
            throw new IllegalArgumentException(
                    ("site %s: the baseline %s was made with the decoder %s, the explainer %s has %s; "
                                    + "run `plumbline baseline` with this explainer")
                            .formatted(
                                    settings.site(),
                                    settings.explained().baseline(),
                                    baseline.explainerSha256(),
                                    settings.explained().explainer(),
                                    sha256));
        }
        String unwatched = unwatched(settings, explainer);
        if (unwatched != null) {
            throw new IllegalArgumentException("site %s: %s".formatted(settings.site(), unwatched));
        }
        if (settings.explained().rank() >= explainer.targetWidth()) {
            throw new IllegalArgumentException(
                    ("site %s: rank = %d, expected less than the %d dimensions of its target space, "
                                    + "since the gap of whole spaces is 0")
                            .formatted(settings.site(), settings.explained().rank(), explainer.targetWidth()));
        }
        String otherRows = otherRows(settings, baseline);
        if (otherRows != null) {
            throw new IllegalArgumentException("site %s: %s".formatted(settings.site(), otherRows));
        }
        String fewerEncodedRows = fewerEncodedRows(settings, baseline);
        if (fewerEncodedRows != null) {
            throw new IllegalArgumentException("site %s: %s".formatted(settings.site(), fewerEncodedRows));
        }
        String otherFeatures = otherFeatures(explainer, baseline);
        if (otherFeatures != null) {
            throw new IllegalArgumentException("site %s: %s".formatted(settings.site(), otherFeatures));
        }
        ExplainerSubspace subspace = explainer.isGiven()
                ? ExplainerSubspace.ofReconstructions(
                        baseline.reconstructionMoment(), settings.explained().rank())
                : SubspaceCache.of(
                        explainer.directory(),
                        explainer.decoder(),
                        sha256,
                        settings.explained().rank(),
                        line -> LOG.info("{}: site={}", line, Printable.value(settings.site())));
        SiteGeometry geometry = SiteGeometry.of(subspace, baseline.moment(), baseline.reconstructionMoment());
        return new WatchedSite(
                settings,
                explainer,
                baseline,
                geometry,
                names(settings, explainer),
                probes(settings, explainer),
                new WindowCodes());
    }

    private static List<Probe> probes(SiteSettings settings, Explainer explainer) {
        try {
            return settings.watch().read(explainer);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException("site %s: %s".formatted(settings.site(), refused.getMessage()), refused);
        }
    }

    private static FeatureNames names(SiteSettings settings, Explainer explainer) {
        try {
            return FeatureNames.read(settings.features(), explainer);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException("site %s: %s".formatted(settings.site(), refused.getMessage()), refused);
        }
    }

    /** Returns why the service cannot watch a site with this explainer, or not as it is configured, or null. */
    public static @Nullable String unwatched(SiteSettings settings, Explainer explainer) {
        String reason = explainer.origin().notRefitted();
        if (settings.refits().adapts() && reason != null) {
            return "%s (%s) cannot be adapted: %s"
                    .formatted(settings.explained().explainer(), explainer.architecture(), reason);
        }
        return null;
    }

    /**
     * Returns why a statistic of this site would be measured on fewer rows than in the clean windows of its baseline,
     * or null.
     */
    public static @Nullable String fewerEncodedRows(SiteSettings settings, Baseline baseline) {
        return EncodedRowsRule.refusal(baseline, settings);
    }

    /** Returns why features of this site cannot be compared with those of its baseline, or null. */
    public static @Nullable String otherFeatures(Explainer explainer, Baseline baseline) {
        FeatureActivity activity = baseline.activity();
        return activity == null || !explainer.hasCodes() || activity.features() == explainer.features()
                ? null
                : ("baseline: says how often %d features are active, the explainer has %d; "
                                + "run `plumbline baseline` again")
                        .formatted(activity.features(), explainer.features());
    }

    /** Returns why windows of this site would not be of the rows its baseline is of, or null. */
    public static @Nullable String otherRows(SiteSettings settings, Baseline baseline) {
        MaskRules made = baseline.masking().rules();
        if (settings.explained().mask().isEmpty()
                || made.equals(settings.explained().mask())) {
            return null;
        }
        return ("mask = %s, but the baseline %s was made with %s: windows would not be of the rows they are compared "
                        + "with; %s, or run `plumbline baseline%s`")
                .formatted(
                        settings.explained().mask(),
                        settings.explained().baseline(),
                        made,
                        made.isEmpty() ? "leave mask out" : "write mask: " + made,
                        options(settings.explained().mask()));
    }

    private static String options(MaskRules rules) {
        StringBuilder options = new StringBuilder();
        rules.tokenIds().forEach(id -> options.append(" --mask-token-id ").append(id));
        Double cap = rules.normCap();
        return cap == null
                ? options.toString()
                : options.append(" --mask-norm-cap ").append(cap).toString();
    }

    /** Returns what requests are totalled under, of the sites whose baseline says how requests differ. */
    public static Map<String, RequestProjection> projections(Map<String, WatchedSite> sites) {
        Map<String, RequestProjection> projections = new TreeMap<>();
        sites.forEach((name, site) -> {
            RequestModel requests = site.baseline().requests();
            if (requests != null) {
                projections.put(
                        name,
                        site.explainer().isGiven()
                                ? requests.projection()
                                        .ofLongerRows(2 * site.baseline().dimension())
                                : requests.projection());
            }
        });
        return projections;
    }

    /** Returns how many values of a row are summed: its target, and its error where reconstructions are given. */
    public int summedWidth() {
        return (explainer.isGiven() ? 2 : 1) * explainer.targetWidth();
    }

    public SiteId id() {
        return settings.id();
    }

    public String site() {
        return settings.site();
    }
}
