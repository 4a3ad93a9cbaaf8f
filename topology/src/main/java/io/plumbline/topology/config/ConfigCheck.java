package io.plumbline.topology.config;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Misfit;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadLocation;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.judgement.Threshold;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.assessment.SiteFiles;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Holds a configuration against the files it names. Reads every explainer and baseline: seconds for large ones. */
public final class ConfigCheck {

    private ConfigCheck() {}

    /**
     * The findings at one site. Explainer and baseline are null where they could not be read.
     *
     * @param problems one sentence each; none: the site can be watched
     */
    public record Site(
            SiteSettings settings,
            @Nullable Explainer explainer,
            @Nullable Baseline baseline,
            List<String> problems,
            @Nullable Candidate candidate) {

        /**
         * The explainer that may take the place of the site's.
         *
         * @param baseline its own; null: it is measured and never proposed
         */
        record Candidate(Explainer explainer, @Nullable Baseline baseline) {}

        /**
         * The speed of one core in GFLOP/s: what the vector kernel reaches with 16,384 features and more. The plain
         * loops are slower.
         */
        private static final double ENCODER_SPEED = 90.0;

        public Site {
            problems = List.copyOf(problems);
        }

        /**
         * Returns what calibrated thresholds come to, a line for every size that the baseline has clean windows of,
         * what they promise, and what slow drift is found by; empty where nothing is taken from the baseline or it is
         * missing.
         */
        public List<String> calibration() {
            return baseline == null ? List.of() : CalibrationLines.of(settings, baseline);
        }

        /** Returns what is done with the explainer that may take the place of the site's; empty where none is named. */
        public Optional<String> shadow() {
            SiteSettings.Candidate named = settings.explained().candidate();
            if (candidate == null || named == null) {
                return Optional.empty();
            }
            String what = "candidate %s (%s, %d features) is measured in every window"
                    .formatted(
                            named.explainer(),
                            candidate.explainer().architecture(),
                            candidate.explainer().features());
            return Optional.of(
                    candidate.baseline() == null
                            ? what + " and never proposed: it has no baseline to be judged by once it serves"
                            : settings.refits().adapts()
                                    ? "%s and proposed once it reconstructs better in %d of %d"
                                            .formatted(
                                                    what,
                                                    named.better().needed(),
                                                    named.better().memory())
                                    : what + " and never proposed, since the site only observes");
        }

        /** Returns the signs that explainer and baseline do not go with each other, which stop nothing. */
        public List<String> warnings() {
            Baseline known = baseline;
            return known == null
                    ? List.of()
                    : Misfit.of(known, known.samplesOf(settings.explained().rank())).stream()
                            .toList();
        }

        /**
         * Returns whether no size has clean windows enough for the promise about false alarms that is asked for; false
         * where none is asked for.
         */
        public boolean lacksPromise() {
            Baseline known = baseline;
            if (known == null || !(settings.alarms().threshold() instanceof Threshold.FalseAlarms promise)) {
                return false;
            }
            List<String> together = DriftJudge.together(
                    known, settings.alarms().triggers(), settings.explained().rank());
            return !DriftJudge.isNewGroup(together.get(0))
                    && known.samplesOf(settings.explained().rank()).stream()
                            .noneMatch(sample -> promise.isKeptBy(sample.values(together.get(0)).length));
        }

        /**
         * Returns what measuring reconstruction costs a window at most; empty where explainer or baseline are missing.
         */
        public Optional<String> encoder() {
            if (explainer == null || baseline == null || explainer.isGiven()) {
                return Optional.empty();
            }
            int rows = Math.min(settings.explained().encodedRows(), baseline.encodedRows());
            double gigaflops = 2e-9 * explainer.inputWidth() * explainer.features() * rows;
            return Optional.of(String.format(
                    Locale.ROOT,
                    "encoder: at most %d rows of a window, %.3g GFLOP, %.2g s of one core at %.0f GFLOP/s",
                    rows,
                    gigaflops,
                    gigaflops / ENCODER_SPEED,
                    ENCODER_SPEED));
        }

        /**
         * The site with everything that is computed once, made of what was read.
         *
         * @throws IllegalStateException when it has problems
         */
        public WatchedSite watched() {
            if (explainer == null || baseline == null || !problems.isEmpty()) {
                throw new IllegalStateException(
                        "site %s cannot be watched: %s".formatted(settings.site(), String.join("; ", problems)));
            }
            WatchedSite site = WatchedSite.of(settings, explainer, baseline);
            return candidate == null ? site : site.beside(candidate.explainer(), candidate.baseline());
        }

        /** Returns this site with another baseline. */
        Site with(Baseline judged) {
            return new Site(settings, explainer, judged, problems, candidate);
        }

        /** Returns this site with one more problem. */
        Site and(String problem) {
            return new Site(
                    settings,
                    explainer,
                    baseline,
                    Stream.concat(problems.stream(), Stream.of(problem)).toList(),
                    candidate);
        }
    }

    /** Reads and checks the files of every site, in the order of the configuration. */
    public static List<Site> sites(MonitorConfig config) {
        return sites(config, new SiteFiles());
    }

    /** Checks as {@link #sites(MonitorConfig)} does, but reads only what is not held already. */
    public static List<Site> sites(MonitorConfig config, SiteFiles files) {
        List<Site> sites = new ArrayList<>();
        config.sites()
                .forEach((name, settings) -> sites.add(site(
                        settings,
                        files,
                        config.signing(),
                        config.adaptationOf(settings),
                        config.limits().width())));
        return ModelCheck.judgedAsOne(withSizesOfTargets(sites, config));
    }

    /** Adds to the first block of a site why the one decoder of all its blocks is too large to publish. */
    private static List<Site> withSizesOfTargets(List<Site> sites, MonitorConfig config) {
        Map<String, List<Site>> groups = new LinkedHashMap<>();
        for (Site site : sites) {
            SiteId id = site.settings().id();
            if (id.isBlock() && config.adaptationOf(site.settings()) != null && site.explainer() != null) {
                groups.computeIfAbsent(id.group(), name -> new ArrayList<>()).add(site);
            }
        }
        List<Site> checked = new ArrayList<>(sites);
        groups.values().forEach(blocks -> {
            Site first = blocks.get(0);
            DType dtype = Objects.requireNonNull(config.adaptationOf(first.settings()))
                    .dtype();
            String refusal = TargetsSize.refusal(
                    blocks.stream()
                            .map(block -> Objects.requireNonNull(block.explainer()))
                            .map(block -> new TargetsSize.Block(block.features(), block.targetWidth()))
                            .toList(),
                    dtype);
            if (refusal != null) {
                checked.set(checked.indexOf(first), first.and(refusal));
            }
        });
        return checked;
    }

    private static Site site(
            SiteSettings settings,
            SiteFiles files,
            Signing signing,
            @Nullable AdaptationSettings adaptation,
            int largestWidth) {
        List<String> problems = new ArrayList<>();
        Baseline baseline = baseline(settings, files, signing, problems);
        Explainer explainer = explainer(settings, files, baseline, problems);
        if (explainer != null) {
            ExplainerCheck.check(settings, adaptation, explainer, largestWidth, problems);
        }
        checkHead(settings.downstream(), problems);
        if (baseline != null) {
            BaselineCheck.checkCalibration(settings, baseline, problems);
        }
        if (explainer != null && baseline != null) {
            BaselineCheck.checkBelongTogether(settings, explainer, baseline, problems);
        }
        Site.Candidate candidate = explainer == null || baseline == null
                ? null
                : candidate(settings, explainer, baseline, signing, adaptation, problems);
        return new Site(settings, explainer, baseline, problems, candidate);
    }

    private static @Nullable Explainer explainer(
            SiteSettings settings, SiteFiles files, @Nullable Baseline baseline, List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        if (!explained.hasExplainer()) {
            return given(settings, baseline, problems);
        }
        if (!Files.exists(explained.explainer())) {
            problems.add("explainer: no folder " + explained.explainer());
            return null;
        }
        try {
            return files.explainer(settings);
        } catch (IOException | IllegalArgumentException broken) {
            problems.add("explainer: " + broken.getMessage());
            return null;
        }
    }

    private static Site.@Nullable Candidate candidate(
            SiteSettings settings,
            Explainer explainer,
            Baseline baseline,
            Signing signing,
            @Nullable AdaptationSettings adaptation,
            List<String> problems) {
        SiteSettings.Candidate named = settings.explained().candidate();
        if (named == null) {
            return null;
        }
        try {
            Explainer other = named.read();
            Baseline made = named.readBaseline();
            String refusal = WatchedSite.otherCandidate(settings, explainer, baseline, other, made);
            if (refusal != null) {
                problems.add("candidate: " + refusal);
                return null;
            }
            List<String> own = new ArrayList<>();
            if (adaptation != null) {
                ExplainerCheck.checkSize(adaptation, other.decoder(), own);
            }
            FeatureNames.read(named.features(), other);
            if (made != null && named.baseline() != null) {
                String unsigned = signing.refusal(named.baseline(), made);
                if (unsigned != null) {
                    own.add("baseline: %s %s".formatted(named.baseline(), unsigned));
                }
                BaselineCheck.checkCalibration(
                        settings.ofCandidate(named, named.baseline(), settings.watch()), made, own);
            }
            own.forEach(problem -> problems.add("candidate: " + problem));
            return new Site.Candidate(other, made);
        } catch (IOException | IllegalArgumentException broken) {
            problems.add("candidate: " + broken.getMessage());
            return null;
        }
    }

    private static @Nullable Explainer given(
            SiteSettings settings, @Nullable Baseline baseline, List<String> problems) {
        try {
            return baseline == null
                    ? null
                    : GivenReconstructions.of(
                            baseline.dimension(), settings.explained().options());
        } catch (IllegalArgumentException refused) {
            problems.add("explainer: " + refused.getMessage());
            return null;
        }
    }

    private static @Nullable Baseline baseline(
            SiteSettings settings, SiteFiles files, Signing signing, List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        if (!Files.isRegularFile(explained.baseline())) {
            problems.add("baseline: no file %s; `plumbline baseline` writes one".formatted(explained.baseline()));
            return null;
        }
        try {
            Baseline read = files.baseline(settings);
            String refusal = signing.refusal(explained.baseline(), read);
            if (refusal != null) {
                problems.add("baseline: %s %s".formatted(explained.baseline(), refusal));
            }
            return read;
        } catch (IOException | IllegalArgumentException broken) {
            problems.add("baseline: %s: %s".formatted(explained.baseline(), broken.getMessage()));
            return null;
        }
    }

    private static void checkHead(@Nullable DownstreamSettings downstream, List<String> problems) {
        if (downstream == null || !(downstream.head() instanceof HeadLocation.InFile head)) {
            return;
        }
        Path file = head.file();
        try {
            if (!Files.isRegularFile(file)) {
                problems.add(
                        "downstream.head: no file %s; `export_head` of the Python package writes one".formatted(file));
            } else if (Files.size(file) > downstream.largestBytes()) {
                problems.add("downstream.head: %s has %d bytes, downstream.max_megabytes allows %d"
                        .formatted(file, Files.size(file), downstream.largestBytes() >> 20));
            }
        } catch (IOException unreadable) {
            problems.add("downstream.head: %s cannot be read: %s".formatted(file, unreadable.getMessage()));
        }
    }
}
