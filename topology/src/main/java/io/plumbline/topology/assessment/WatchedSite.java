package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.features.FeatureActivity;
import io.plumbline.features.FeatureMap;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.SubspaceCache;
import io.plumbline.moments.MaskRules;
import io.plumbline.probes.Probe;
import io.plumbline.probes.WatchSettings;
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
import java.util.stream.Stream;
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
 * @param shadow the explainer that is measured beside its own, in no service; null: none
 */
public record WatchedSite(
        SiteSettings settings,
        Explainer explainer,
        Baseline baseline,
        SiteGeometry geometry,
        FeatureNames names,
        List<Probe> probes,
        WindowCodes codes,
        @Nullable Shadow shadow) {

    private static final Logger LOG = LoggerFactory.getLogger(WatchedSite.class);

    /**
     * An explainer that is measured beside the one of a site.
     *
     * @param site this site, explained by it; null where it has no baseline to be judged by, and of the explainer whose
     *     place a candidate has taken
     * @param isCandidate whether it is the candidate, and not the one before it
     * @param lostWatched watched features of the site's own explainer that the candidate has none like
     */
    public record Shadow(
            Explainer explainer, @Nullable WatchedSite site, boolean isCandidate, List<Integer> lostWatched) {}

    /** Creates a site without probes, of whose windows nothing is known. */
    public WatchedSite(
            SiteSettings settings, Explainer explainer, Baseline baseline, SiteGeometry geometry, FeatureNames names) {
        this(settings, explainer, baseline, geometry, names, List.of(), new WindowCodes(), null);
    }

    /**
     * Returns this site beside the explainer that may take its place.
     *
     * @param other the candidate's explainer
     * @param made the candidate's baseline; null: it is measured and never proposed
     * @throws IllegalArgumentException as {@link #otherCandidate} says
     */
    public WatchedSite beside(Explainer other, @Nullable Baseline made) {
        SiteSettings.Candidate candidate =
                Objects.requireNonNull(settings.explained().candidate());
        String refusal = otherCandidate(settings, explainer, baseline, other, made);
        if (refusal != null) {
            throw new IllegalArgumentException("site %s: candidate: %s".formatted(site(), refusal));
        }
        FeatureMap toCandidate = FeatureMap.between(explainer.decoder(), other.decoder());
        FeatureMap back = FeatureMap.between(other.decoder(), explainer.decoder());
        List<Integer> watched = settings.watch().features();
        List<Integer> lost = watched.stream()
                .filter(feature -> !toCandidate.of(feature).isSame())
                .toList();
        WatchedSite explained = null;
        if (made != null && candidate.baseline() != null) {
            List<Integer> kept = watched.stream()
                    .map(toCandidate::of)
                    .filter(FeatureMap.Nearest::isSame)
                    .map(FeatureMap.Nearest::feature)
                    .distinct()
                    .toList();
            WatchSettings watch = new WatchSettings(
                    kept, settings.watch().probes(), settings.watch().falseDiscoveryRate());
            WatchedSite own = of(settings.ofCandidate(candidate, candidate.baseline(), watch), other, made);
            explained = own.with(own.names.carriedOver(names, back), new Shadow(explainer, null, false, lost));
        }
        return with(names, new Shadow(other, explained, true, lost));
    }

    private WatchedSite with(FeatureNames called, Shadow beside) {
        return new WatchedSite(settings, explainer, baseline, geometry, called, probes, codes, beside);
    }

    /** Returns this site explained by the candidate; null where there is none that may take its place. */
    public @Nullable WatchedSite candidate() {
        return shadow == null ? null : shadow.site();
    }

    /** Returns whether this is the site as its candidate explains it. */
    public boolean isOfCandidate() {
        return shadow != null && !shadow.isCandidate();
    }

    /** Returns the name under which what runs the rest of the model is found: each explainer has one of its own. */
    public String probe() {
        return probe(isOfCandidate());
    }

    /** Returns the name for the explainer that is measured beside this one, if there is any. */
    String shadowProbe() {
        return probe(!isOfCandidate());
    }

    private String probe(boolean ofCandidate) {
        return ofCandidate ? site() + "#candidate" : site();
    }

    /** Returns what names the explainer in published decoders: the SHA-256 of its trained decoder. */
    public String explainerSha256() {
        return baseline.explainerSha256();
    }

    /** Returns why an explainer cannot be measured beside the site's own, or not judged with this baseline, or null. */
    public static @Nullable String otherCandidate(
            SiteSettings settings, Explainer explainer, Baseline baseline, Explainer other, @Nullable Baseline made) {
        if (other.inputWidth() != explainer.inputWidth() || other.targetWidth() != explainer.targetWidth()) {
            return "reads %d columns and writes %d, the site's explainer %d and %d; expected one of the same place"
                    .formatted(
                            other.inputWidth(), other.targetWidth(), explainer.inputWidth(), explainer.targetWidth());
        }
        if (!other.space().isPlain() || !explainer.space().isPlain() || other.block() != null) {
            return "expected explainers that write rows as they come, where both are measured on the same ones";
        }
        if (other.decoder().sha256().equals(explainer.decoder().sha256())) {
            return "has the decoder of the site's own explainer";
        }
        if (made == null) {
            return null;
        }
        if (!made.explainerSha256().equals(other.decoder().sha256())) {
            return "baseline: made with decoder %s, but the candidate has %s; run `plumbline baseline` with it"
                    .formatted(made.explainerSha256(), other.decoder().sha256());
        }
        SiteSettings.Candidate candidate =
                Objects.requireNonNull(settings.explained().candidate());
        SiteSettings explained =
                settings.ofCandidate(candidate, Objects.requireNonNull(candidate.baseline()), settings.watch());
        String refusal = Stream.of(
                        unwatched(explained, other),
                        otherRows(explained, made),
                        fewerEncodedRows(explained, made),
                        otherFeatures(other, made))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        if (refusal != null) {
            return refusal;
        }
        RequestModel requests = baseline.requests();
        RequestModel others = made.requests();
        return made.moment().rows() == baseline.moment().rows()
                        && Objects.equals(
                                requests == null ? null : requests.projection().id(),
                                others == null ? null : others.projection().id())
                ? null
                : ("baseline: of other rows than the site's, %d and %d; make both from the same recording, so that "
                                + "what is summed of requests stays")
                        .formatted(made.moment().rows(), baseline.moment().rows());
    }

    /**
     * Reads explainer and baseline.
     *
     * @throws IllegalArgumentException when they do not belong together, saying how
     */
    public static WatchedSite read(SiteSettings settings) throws IOException {
        SiteFiles files = new SiteFiles();
        Baseline baseline = files.baseline(settings);
        WatchedSite site = of(settings, explainer(settings, baseline, files), baseline);
        SiteSettings.Candidate candidate = settings.explained().candidate();
        return candidate == null ? site : site.beside(candidate.read(), candidate.readBaseline());
    }

    /**
     * Returns sites by their names, each as {@link #read} does; blocks of one explainer share their encoders, and sites
     * of one model are judged as one.
     *
     * @throws IllegalArgumentException when the files of one do not belong together, saying how
     */
    public static Map<String, WatchedSite> readAll(Collection<SiteSettings> all) throws IOException {
        SiteFiles files = new SiteFiles();
        Map<String, Baseline> baselines = new LinkedHashMap<>();
        for (SiteSettings settings : all) {
            baselines.put(settings.site(), files.baseline(settings));
        }
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : all) {
            Baseline baseline = judgedAsOne(settings, all, baselines);
            WatchedSite site = of(settings, explainer(settings, baseline, files), baseline);
            SiteSettings.Candidate candidate = settings.explained().candidate();
            sites.put(
                    settings.site(),
                    candidate == null ? site : site.beside(candidate.read(), candidate.readBaseline()));
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

    private static Explainer explainer(SiteSettings settings, Baseline baseline, SiteFiles files) throws IOException {
        return settings.explained().hasExplainer()
                ? files.explainer(settings)
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
                new WindowCodes(),
                null);
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
