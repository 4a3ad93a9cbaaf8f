package io.plumbline.topology.config;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Misfit;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RequestModel;
import io.plumbline.baseline.UsualRank;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadLocation;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.geometry.Statistic;
import io.plumbline.groups.NewGroups;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.RequestDetector;
import io.plumbline.judgement.SequentialDetector;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.assessment.SiteFiles;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
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
            SiteSettings.Alarms alarms = settings.alarms();
            List<String> lines = new ArrayList<>();
            Baseline known = baseline;
            if (known != null) {
                addLines(lines, known, "", alarms.triggers(), alarms.threshold());
                addLines(lines, known.byItself(), ", warn", alarms.warn(), alarms.warnThreshold());
                if (alarms.threshold().isCalibrated()) {
                    known.otherSizes(settings.explained().rank(), alarms.minimumRows())
                            .ifPresent(lines::add);
                }
                addNeeded(lines, "trigger", alarms.triggers(), alarms.threshold());
                addNeeded(lines, "warn", alarms.warn(), alarms.warnThreshold());
                addSequential(lines, known.requests(), alarms.sequential());
            }
            return lines;
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

        private void addLines(
                List<String> lines, Baseline known, String role, List<String> statistics, Threshold threshold) {
            List<String> others = DriftJudge.withoutNewGroup(statistics);
            if (!threshold.isCalibrated() || others.isEmpty()) {
                return;
            }
            DriftJudge judge = judge(settings, known, statistics, threshold);
            List<String> together =
                    DriftJudge.together(known, others, settings.explained().rank());
            for (NullSample sample : known.samplesOf(settings.explained().rank())) {
                Level own = sample.level(together, together.get(0), threshold, known.dimension());
                lines.add("windows of %s (%,d clean%s): %s"
                        .formatted(
                                Amounts.count(sample.rowsPerWindow(), "row"),
                                sample.values(together.get(0)).length,
                                role,
                                own instanceof Level.Unknown
                                                && judge.level(together.get(0), sample) instanceof Level.Known
                                        ? "too few, so the next smaller size's thresholds hold"
                                        : levels(judge, sample, together)));
                judge.byRequests(sample)
                        .ifPresent(requests ->
                                lines.add(byRequests(Statistic.REQUEST_EVIDENCE_BY_RANKS, sample, role, requests)));
                judge.byGroups(sample)
                        .ifPresent(requests -> lines.add(byRequests(Statistic.NEW_GROUP, sample, role, requests)));
                unreachable(judge, sample, together).ifPresent(lines::add);
            }
            if (!others.equals(statistics) && known.groups() == null) {
                lines.add("%s is left out: %s".formatted(Statistic.NEW_GROUP.label(), NewGroups.NOT_KEPT));
            }
            for (String statistic : others) {
                if (!together.contains(statistic)) {
                    lines.add("%s is left out, since no clean window has it: the others decide".formatted(statistic));
                }
            }
        }

        private static String byRequests(
                Statistic statistic, NullSample sample, String role, DriftJudge.ByRequests requests) {
            Basis basis = Objects.requireNonNull(requests.level().basis());
            return String.format(
                    Locale.ROOT,
                    "windows of %s, about %s (%,d clean%s): %s %.4g; %s",
                    Amounts.count(sample.rowsPerWindow(), "row"),
                    Amounts.count(requests.requests(), "request"),
                    basis.count(),
                    role,
                    statistic.label(),
                    requests.level().value(),
                    basis.promise());
        }

        /** The thresholds of all statistics at one size, and the promise that they keep together. */
        private static String levels(DriftJudge judge, NullSample sample, List<String> together) {
            List<String> levels = new ArrayList<>();
            String promise = "";
            for (String statistic : together) {
                Level level = judge.level(statistic, sample);
                if (level instanceof Level.Unknown unknown) {
                    return "no threshold for %s: %s".formatted(statistic, unknown.reason());
                }
                Level.Known known = (Level.Known) level;
                Basis basis = known.basis();
                levels.add(String.format(Locale.ROOT, "%s %.4g", statistic, known.value()));
                promise = basis == null ? "" : "; " + basis.promise();
            }
            return String.join(", ", levels) + promise;
        }

        /** Says which statistics cannot alarm at a size, and which then decide; empty where all can. */
        private static Optional<String> unreachable(DriftJudge judge, NullSample sample, List<String> together) {
            List<String> mute = together.stream()
                    .filter(statistic -> judge.level(statistic, sample) instanceof Level.Known known
                            && judge.isOutOfReach(statistic, known.value(), sample.rank()))
                    .toList();
            if (mute.isEmpty()) {
                return Optional.empty();
            }
            List<String> others =
                    together.stream().filter(name -> !mute.contains(name)).toList();
            return Optional.of(
                    ("%s cannot raise an alarm in windows of %s: the threshold that keeps the promise lies above every "
                                    + "value that makes sense, and more clean windows may lower it; %s")
                            .formatted(
                                    String.join(", ", mute),
                                    Amounts.count(sample.rowsPerWindow(), "row"),
                                    others.isEmpty()
                                            ? "such a window is undecided"
                                            : String.join(", ", others)
                                                    + (others.size() == 1 ? " decides" : " decide")));
        }

        private static void addNeeded(List<String> lines, String key, List<String> statistics, Threshold threshold) {
            if (!statistics.isEmpty() && threshold instanceof Threshold.FalseAlarms promise) {
                lines.add("%s: %s".formatted(key, promise.windowsNeeded()));
            }
        }

        private static void addSequential(
                List<String> lines, @Nullable RequestModel requests, @Nullable SequentialRule rule) {
            if (requests != null && rule != null && rule.statistics().contains(Statistic.REQUEST_SHIFT.label())) {
                double share =
                        RequestDetector.ofRunLength(rule.windowsPerAlarm()).smallestShareByRanks(requests.requests());
                lines.add(String.format(
                        Locale.ROOT,
                        "sequential: request_shift, %d requests: ranks alone find a drift of about %.2g %% of the "
                                + "requests or"
                                + " more; smaller shares rest on a tail model",
                        requests.requests(),
                        100.0 * share));
            }
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
            int width = Math.max(explainer.inputWidth(), explainer.targetWidth());
            if (width > largestWidth) {
                problems.add("explainer: %d columns, limits.width allows %d".formatted(width, largestWidth));
            }
            checkRanks(settings, adaptation, explainer, problems);
            checkNames(settings, explainer, problems);
            checkWatched(settings, explainer, problems);
            String unwatched = WatchedSite.unwatched(settings, explainer);
            if (unwatched != null) {
                problems.add("explainer: " + unwatched);
            }
        }
        if (explainer != null && adaptation != null) {
            checkSize(adaptation, explainer.decoder(), problems);
        }
        checkHead(settings.downstream(), problems);
        if (baseline != null) {
            checkCalibration(settings, baseline, problems);
        }
        if (explainer != null && baseline != null) {
            checkBelongTogether(settings, explainer, baseline, problems);
        }
        Site.Candidate candidate = explainer == null || baseline == null
                ? null
                : candidate(settings, explainer, baseline, adaptation, problems);
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
                checkSize(adaptation, other.decoder(), own);
            }
            FeatureNames.read(named.features(), other);
            if (made != null && named.baseline() != null) {
                checkCalibration(settings.ofCandidate(named, named.baseline(), settings.watch()), made, own);
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
            String refusal = signing.refusal(explained.baseline());
            if (refusal != null) {
                problems.add("baseline: %s %s".formatted(explained.baseline(), refusal));
            }
            return files.baseline(settings);
        } catch (IOException | IllegalArgumentException broken) {
            problems.add("baseline: %s: %s".formatted(explained.baseline(), broken.getMessage()));
            return null;
        }
    }

    private static void checkRanks(
            SiteSettings settings,
            @Nullable AdaptationSettings adaptation,
            Explainer explainer,
            List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        int width = explainer.targetWidth();
        if (explained.rank() >= width) {
            problems.add(
                    ("rank = %d: expected less than %d, the width the explainer writes: the gap of whole spaces is 0; "
                                    + "%d is usual")
                            .formatted(explained.rank(), width, UsualRank.of(width)));
            return;
        }
        double largest = Math.sqrt(2.0 * Math.min(explained.rank(), width - explained.rank()));
        if (settings.alarms().threshold() instanceof Threshold.Fixed fixed
                && settings.alarms().triggers().stream().anyMatch(DriftJudge::isGap)
                && fixed.value() >= largest) {
            problems.add("threshold = %s: expected less than %.4g, the largest gap of rank %d in %d dimensions"
                    .formatted(fixed.value(), largest, explained.rank(), width));
        }
        if (adaptation != null
                && adaptation.profile() instanceof AdaptationProfile.Paper paper
                && paper.settings().rank() > width) {
            problems.add("adaptation.rank = %d: expected at most %d, the width the explainer writes"
                    .formatted(paper.settings().rank(), width));
        }
    }

    /**
     * Refuses weights that are too large to publish: those of an adaptation, and of the trained decoder when it
     * returns.
     */
    private static void checkSize(AdaptationSettings adaptation, Decoder trained, List<String> problems) {
        for (DType dtype : adaptation.types(trained)) {
            String refusal = DecoderEmitter.refusal(trained.features(), trained.dimension(), dtype);
            if (refusal != null) {
                problems.add("adaptation.dtype = %s: %s".formatted(adaptation.dtype(), refusal));
            }
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

    private static void checkNames(SiteSettings settings, Explainer explainer, List<String> problems) {
        try {
            FeatureNames.read(settings.features(), explainer);
        } catch (IllegalArgumentException refused) {
            problems.add(String.valueOf(refused.getMessage()));
        }
    }

    private static void checkWatched(SiteSettings settings, Explainer explainer, List<String> problems) {
        try {
            settings.watch().read(explainer);
        } catch (IllegalArgumentException | UncheckedIOException refused) {
            problems.add(String.valueOf(refused.getMessage()));
        }
    }

    private static void checkBelongTogether(
            SiteSettings settings, Explainer explainer, Baseline baseline, List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        if (baseline.dimension() != explainer.targetWidth()) {
            problems.add("baseline: of dimension %d, but the explainer writes %d"
                    .formatted(baseline.dimension(), explainer.targetWidth()));
        } else if (!baseline.explainerSha256().equals(explainer.decoder().sha256())) {
            problems.add("baseline: made with decoder %s, but %s holds %s; run `plumbline baseline` again"
                    .formatted(
                            baseline.explainerSha256(),
                            explained.explainer(),
                            explainer.decoder().sha256()));
        }
        String otherFeatures = WatchedSite.otherFeatures(explainer, baseline);
        if (otherFeatures != null) {
            problems.add(otherFeatures);
        }
        String otherRows = WatchedSite.otherRows(settings, baseline);
        if (otherRows != null) {
            problems.add(otherRows);
        }
        String fewerEncodedRows = WatchedSite.fewerEncodedRows(settings, baseline);
        if (fewerEncodedRows != null) {
            problems.add(fewerEncodedRows);
        }
        if (baseline.rowCount() < explained.rank()) {
            problems.add("baseline: %d rows do not span a subspace of rank %d"
                    .formatted(baseline.rowCount(), explained.rank()));
        }
    }

    /** Refuses what no window of any number of rows could be judged by. */
    private static void checkCalibration(SiteSettings settings, Baseline baseline, List<String> problems) {
        SiteSettings.Alarms alarms = settings.alarms();
        List<Threshold> ofTriggers = new ArrayList<>(List.of(alarms.threshold()));
        Threshold clear = alarms.clear();
        if (clear != null) {
            ofTriggers.add(clear);
        }
        for (Threshold threshold : ofTriggers) {
            checkCleanWindows(settings, baseline, alarms.triggers(), threshold, problems);
        }
        SequentialRule sequential = alarms.sequential();
        if (sequential != null) {
            checkSequential(settings, baseline, sequential, problems);
        }
        if (!alarms.warn().isEmpty()) {
            checkCleanWindows(settings, baseline, alarms.warn(), alarms.warnThreshold(), problems);
        }
    }

    private static void checkSequential(
            SiteSettings settings, Baseline baseline, SequentialRule sequential, List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        int least = SequentialDetector.ofRunLength(sequential.windowsPerAlarm()).leastClean();
        for (String statistic : sequential.statistics()) {
            if (statistic.equals(Statistic.REQUEST_SHIFT.label())) {
                checkRequests(baseline.requests(), sequential, problems);
                continue;
            }
            int most = baseline.samplesOf(explained.rank()).stream()
                    .mapToInt(sample -> sample.values(statistic).length)
                    .max()
                    .orElse(0);
            if (most < least) {
                problems.add(("sequential: one false alarm of %s in %.0f windows needs %d clean windows of rank %d, the"
                                + " baseline has %d and would not find a full drift in %d windows; run"
                                + " `plumbline baseline --rank %d` with more rows, or set a shorter average_run_length")
                        .formatted(
                                statistic,
                                sequential.windowsPerAlarm(),
                                least,
                                explained.rank(),
                                most,
                                SequentialDetector.REACH,
                                explained.rank()));
            }
        }
    }

    private static void checkRequests(
            @Nullable RequestModel requests, SequentialRule sequential, List<String> problems) {
        int least = RequestDetector.ofRunLength(sequential.windowsPerAlarm()).leastClean();
        if (requests == null) {
            problems.add("sequential: request_shift: " + RequestModel.MISSING);
        } else if (requests.requests() < least) {
            problems.add(
                    ("sequential: one false alarm of request_shift in %.0f windows needs a baseline of %d requests, "
                                    + "it has"
                                    + " %d; run `plumbline baseline` with more, or set a shorter average_run_length")
                            .formatted(sequential.windowsPerAlarm(), least, requests.requests()));
        }
    }

    private static void checkCleanWindows(
            SiteSettings settings,
            Baseline baseline,
            List<String> statistics,
            Threshold threshold,
            List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        if (!threshold.isCalibrated()) {
            return;
        }
        // A promise about new groups rests on the baseline's requests.
        List<String> byWindows =
                threshold instanceof Threshold.FalseAlarms ? DriftJudge.withoutNewGroup(statistics) : statistics;
        if (byWindows.isEmpty()) {
            if (baseline.groups() == null) {
                problems.add("trigger: " + Statistic.NEW_GROUP.label() + ": " + NewGroups.NOT_KEPT);
            }
            return;
        }
        int mostWindows = 0;
        int levels = 0;
        boolean mute = true;
        DriftJudge judge = judge(settings, baseline, statistics, threshold);
        for (NullSample sample : baseline.samplesOf(explained.rank())) {
            for (String statistic : byWindows) {
                mostWindows = Math.max(mostWindows, sample.values(statistic).length);
                if (judge.level(statistic, sample) instanceof Level.Known known) {
                    levels++;
                    mute &= judge.isOutOfReach(statistic, known.value(), sample.rank());
                }
            }
        }
        if (levels > 0) {
            if (mute) {
                problems.add(
                        ("no threshold of %s can be reached, since the clean windows of the baseline differ too much "
                                        + "from each other: %s")
                                .formatted(String.join(", ", byWindows), DriftJudge.MIX));
            }
            return;
        }
        String of = String.join(", ", byWindows);
        String asked = threshold instanceof Threshold.QuantileOfCleanWindows quantile
                ? "threshold: quantile %s of %s".formatted(quantile.quantile(), of)
                : "threshold: a promise about false alarms of " + of;
        String others = baseline.samples().stream()
                .map(sample -> Integer.toString(sample.rank()))
                .distinct()
                .collect(Collectors.joining(", "));
        boolean otherRank = baseline.samplesOf(explained.rank()).isEmpty() && !others.isEmpty();
        problems.add("%s needs %d clean windows of rank %d, the baseline has %d%s; run `plumbline baseline --rank %d`%s"
                .formatted(
                        asked,
                        leastWindows(threshold),
                        explained.rank(),
                        mostWindows,
                        otherRank ? " and others of rank " + others : "",
                        explained.rank(),
                        otherRank ? ", or set a rank it has" : " with more rows, or set a number"));
    }

    private static DriftJudge judge(
            SiteSettings settings, Baseline baseline, List<String> statistics, Threshold threshold) {
        return new DriftJudge(
                baseline,
                statistics,
                threshold,
                threshold,
                settings.alarms().debounce(),
                settings.alarms().minimumRows());
    }

    /**
     * Returns the least number of clean windows a threshold needs; below it there is no level. A promise that few
     * windows cannot keep becomes a weaker one, which is no problem.
     */
    private static int leastWindows(Threshold threshold) {
        return threshold instanceof Threshold.QuantileOfCleanWindows quantile ? quantile.windowsNeeded() : 1;
    }
}
