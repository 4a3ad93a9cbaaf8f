package io.plumbline.baseline;

import io.plumbline.geometry.Evidence;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.groups.GroupSpace;
import io.plumbline.groups.KnownGroups;
import io.plumbline.groups.RecentGroups;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.GroupLevels;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.RequestLevels;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Judges the windows of one site by one or several statistics: what a command judges a file by and what the monitor
 * judges its windows by. Pure, and immutable but for levels that it computes once; any number of threads.
 *
 * <p><b>Several statistics.</b> A window is above when any of them is above its level. Levels taken from clean windows
 * are of all statistics together, by the largest normal score (see {@link CleanScores}), so that the promise is that of
 * one statistic. A statistic that no clean window of the baseline has (request statistics of a baseline without
 * requests) is left out of it, and its reading says so; so is, for one window, a statistic of single requests that the
 * window does not have, such as one whose requests have one row each. One that cannot be judged otherwise makes the
 * window undecided unless another is above. A window is undecided, too, where no level from clean windows can be
 * reached ({@link Statistic#reach}): it would be aligned whatever came. A drifted site comes back by windows in which
 * all are at or below their clear levels. The one that decides is {@link #deciding}: its name and numbers are the
 * verdict's.
 *
 * <p><b>Several sites.</b> The statistics of other sites of a model are judged as one with these where the baseline
 * has them ({@link Baseline#judgedWith}): the promise is that of all sites together. What rests on single requests
 * shares the promise out among the sites.
 *
 * <p><b>Levels from requests.</b> Where {@code request_evidence} is among the statistics and the clean windows of a
 * size are too few for the promise about false alarms, {@code request_evidence_by_ranks} speaks beside them, by a level
 * that the baseline's requests keep the promise with ({@link RequestLevels}). Its {@link Basis} says so, and where both
 * are above it decides.
 *
 * <p><b>New groups.</b> {@code new_group} counts requests that are like each other and like none of the baseline's. Its
 * level for a promise about false alarms comes from the number of the baseline's requests ({@link GroupLevels}), so it
 * is not judged as one with the others: it keeps the promise once more by itself. Not seeing a new group says nothing
 * about the rest of a window.
 */
public final class DriftJudge {

    /** The statistic of the paper, which decides where a number or a share is the threshold. */
    public static final String DEFAULT_TRIGGER = "faithfulness_gap";

    /**
     * The statistics that are judged as one where none is named and the threshold is taken from clean windows: the gap
     * says what the explainer cannot follow, the reconstruction what that costs, and single requests that are odd in
     * place and reconstruction show the first foreign ones.
     */
    public static final List<String> JUDGED_AS_ONE =
            List.of(DEFAULT_TRIGGER, Statistic.RECONSTRUCTION_FVU_TRAINED.label(), Statistic.REQUEST_EVIDENCE.label());

    /**
     * The statistics that decide where none is named and the threshold is taken from clean windows:
     * {@link #JUDGED_AS_ONE}, and beside them requests that are like each other and like none of the baseline's.
     */
    public static final List<String> DEFAULT_TRIGGERS = Stream.concat(
                    JUDGED_AS_ONE.stream(), Stream.of(Statistic.NEW_GROUP.label()))
            .toList();

    /** The statistics to name instead of {@link #DEFAULT_TRIGGERS} where too few rows are encoded. */
    public static final List<String> TRIGGERS_WITHOUT_CODES = List.of(DEFAULT_TRIGGER, Statistic.REQUEST_SHIFT.label());

    /** Advice about clean windows that differ so much that no level can be reached. */
    public static final String MIX =
            "mix the kinds of traffic over the whole recording, or leave out the windows that are unlike the others";

    private static final String SILENCE =
            "all other statistics are left out, and that there is no new group says nothing of the rest of the window";

    /** The levels of one statistic that are taken from clean windows. */
    private record Levels(
            @Nullable CalibratedSizes threshold, @Nullable CalibratedSizes clear) {}

    private final Baseline baseline;
    private final List<String> statistics;
    private final Threshold threshold;
    private final Threshold clear;
    private final DriftPolicy policy;
    private final int minimumRows;
    private final @Nullable RequestLevels requestLevels;
    private final @Nullable GroupLevels groupLevels;
    private final Map<Integer, Map<String, Levels>> levelsOfRank = new ConcurrentHashMap<>();

    /**
     * A judge of windows.
     *
     * @param statistics names, of {@link GapAssessment#statisticNames()}
     * @param threshold above it a window speaks for drift
     * @param clear at or below it a window speaks against; the threshold itself for no hysteresis
     * @param minimumRows windows with fewer rows are undecided
     */
    public DriftJudge(
            Baseline baseline,
            List<String> statistics,
            Threshold threshold,
            Threshold clear,
            DriftPolicy policy,
            int minimumRows) {
        if (statistics.isEmpty()) {
            throw new IllegalArgumentException("no statistic to judge by: expected at least one");
        }
        this.baseline = baseline;
        this.statistics = List.copyOf(statistics);
        this.threshold = threshold;
        this.clear = clear;
        this.policy = policy;
        this.minimumRows = minimumRows;
        RequestModel requests = baseline.requests();
        Threshold.FalseAlarms promise = threshold instanceof Threshold.FalseAlarms alarms
                ? new Threshold.FalseAlarms(alarms.budget().sharedBy(baseline.sitesTogether()), alarms.law())
                : null;
        this.requestLevels = promise != null
                        && statistics.contains(Statistic.REQUEST_EVIDENCE.label())
                        && requests != null
                        && requests.requestsInEvidence() > 0
                ? new RequestLevels(promise, requests.requestsInEvidence(), Evidence.EXPONENT_OF_BOTH)
                : null;
        this.groupLevels = promise != null && requests != null
                ? new GroupLevels(
                        promise,
                        KnownGroups.requestsBehind(requests.requests()),
                        GroupSpace.SHARE_OF_UNUSUAL,
                        TrafficGroup.FEWEST)
                : null;
    }

    /**
     * Returns whether a statistic is a gap between subspaces, and so has a largest possible value to take a share of.
     */
    public static boolean isGap(String statistic) {
        return Statistic.find(statistic).filter(Statistic::isGap).isPresent();
    }

    /**
     * Returns the statistics that the baseline has clean windows of at a rank; all of them where it has none of any.
     */
    public static List<String> together(Baseline baseline, List<String> statistics, int rank) {
        List<String> calibrated = statistics.stream()
                .filter(statistic ->
                        baseline.samplesOf(rank).stream().anyMatch(sample -> sample.values(statistic).length > 0))
                .toList();
        return calibrated.isEmpty() ? statistics : calibrated;
    }

    /**
     * Returns the statistics that decide where none is named: the gap alone by a number or a share, which are in its
     * units; otherwise the defaults.
     *
     * @param calibrated whether the threshold is taken from clean windows
     * @param others statistics that have another part and do not decide
     */
    public static List<String> defaultTriggers(boolean calibrated, List<String> others) {
        List<String> defaults =
                DEFAULT_TRIGGERS.stream().filter(name -> !others.contains(name)).toList();
        return calibrated && !defaults.isEmpty() ? defaults : List.of(DEFAULT_TRIGGER);
    }

    /** Takes one window's numbers. */
    public DriftPolicy.Outcome judge(DriftState state, GapAssessment window) {
        if (window.rows() < minimumRows) {
            return policy.undecided(
                    state,
                    "the window has %s, at least %s are asked for"
                            .formatted(Amounts.count(window.rows(), "row"), Amounts.number(minimumRows)));
        }
        Reading reading = deciding(state, readings(window));
        Double value = reading.value();
        return reading.undecided() != null || value == null
                ? policy.undecided(state, String.valueOf(reading.undecided()))
                : policy.judge(state, value, reading.level(), reading.clear());
    }

    /** Returns every statistic of a window beside its levels, in their order. */
    public List<Reading> readings(GapAssessment window) {
        List<Reading> readings = new ArrayList<>();
        Map<String, Levels> levels = levelsOfRank.computeIfAbsent(window.rank(), this::levels);
        for (String statistic : statistics) {
            Levels known = levels.get(statistic);
            if (groupLevels != null && isNewGroup(statistic)) {
                readings.add(byRequests(Statistic.NEW_GROUP, Statistic.REQUESTS_IN_GROUPS, groupLevels::level, window));
            } else if (known == null) {
                String reason = "no clean window of rank %d has %s: it is left out, the others decide"
                        .formatted(window.rank(), statistic);
                readings.add(leftOut(statistic, window, reason));
            } else if (lacksSource(statistic, window)) {
                String reason = undefined(statistic, window) + "; it is left out of this window, the others decide";
                readings.add(leftOut(statistic, window, reason));
            } else {
                readings.add(reading(statistic, known, window));
            }
        }
        if (requestLevels != null && readings.stream().anyMatch(DriftJudge::lacksPromise)) {
            readings.add(byRequests(
                    Statistic.REQUEST_EVIDENCE_BY_RANKS, Statistic.REQUESTS_IN_EVIDENCE, requestLevels::level, window));
        }
        if (isSilenceAlone(readings)) {
            return readings.stream()
                    .map(reading -> reading.leftOut() ? reading : reading.undecidedBecause(SILENCE))
                    .toList();
        }
        return threshold.isCalibrated() && isMute(readings, window) ? undecided(readings, window) : readings;
    }

    /** Returns the statistics but for {@code new_group}, which has a promise of its own. */
    public static List<String> withoutNewGroup(List<String> statistics) {
        return statistics.stream().filter(statistic -> !isNewGroup(statistic)).toList();
    }

    /** Returns whether a statistic has a promise of its own beside those that are judged as one. */
    public static boolean isNewGroup(String statistic) {
        return statistic.equals(Statistic.NEW_GROUP.label());
    }

    /**
     * Returns the reading of a statistic whose level comes from the baseline's requests; left out where the window
     * lacks it, or there is no such level.
     *
     * @param counted how many of the window's requests it is of
     */
    private static Reading byRequests(
            Statistic of, Statistic counted, LongFunction<Level> levels, GapAssessment window) {
        String statistic = of.label();
        OptionalDouble value = window.value(of);
        OptionalDouble requests = window.value(counted);
        if (value.isEmpty() || requests.isEmpty()) {
            return leftOut(statistic, window, undefined(statistic, window) + "; it is left out of this window");
        }
        Level level = levels.apply(Math.round(requests.getAsDouble()));
        return level instanceof Level.Unknown unknown
                ? leftOut(statistic, window, unknown.reason() + "; it is left out of this window")
                : new Reading(statistic, value.getAsDouble(), null, level, level, null, false);
    }

    /** Returns whether the clean windows behind a level do not keep what was asked for. */
    private static boolean lacksPromise(Reading reading) {
        Basis basis = reading.basis();
        return !reading.leftOut() && (basis == null || !basis.isKept());
    }

    /**
     * Returns the level that the baseline's requests give windows as large as the clean windows of a size; empty where
     * those of the size keep the promise, or requests cannot.
     */
    public Optional<ByRequests> byRequests(NullSample size) {
        RequestModel model = baseline.requests();
        boolean lacks = statistics.stream()
                .map(statistic -> level(statistic, size))
                .anyMatch(level -> level instanceof Level.Known known
                        && known.basis() != null
                        && !known.basis().isKept());
        if (requestLevels == null || model == null || !lacks) {
            return Optional.empty();
        }
        long requests = requests(model, size);
        return requestLevels.level(requests) instanceof Level.Known known
                ? Optional.of(new ByRequests(requests, known))
                : Optional.empty();
    }

    /**
     * Returns the level of {@code new_group}, and of how many requests, where windows are as large as the clean windows
     * of a size; empty where it is not judged, or the requests cannot keep the promise.
     */
    public Optional<ByRequests> byGroups(NullSample size) {
        RequestModel model = baseline.requests();
        if (groupLevels == null || model == null || !statistics.contains(Statistic.NEW_GROUP.label())) {
            return Optional.empty();
        }
        long pooled = Math.max(RecentGroups.POOLED_REQUESTS, requests(model, size));
        return groupLevels.level(pooled) instanceof Level.Known known
                ? Optional.of(new ByRequests(pooled, known))
                : Optional.empty();
    }

    private static long requests(RequestModel model, NullSample size) {
        return Math.max(1, Math.round(size.meanRows() / model.usualRows()));
    }

    /**
     * A level from the baseline's requests.
     *
     * @param requests of a window, or pooled of several
     */
    public record ByRequests(long requests, Level.Known level) {}

    /** Returns whether no value of a statistic that makes sense is above a level, at the rank of the windows. */
    public boolean isOutOfReach(String statistic, double level, int rank) {
        OptionalDouble reach = reach(statistic, rank, baseline.dimension());
        return reach.isPresent() && level >= reach.getAsDouble();
    }

    /** Returns the value that a level is to stay below, see {@link Statistic#reach}. */
    private static OptionalDouble reach(String statistic, int rank, int dimension) {
        return Statistic.find(statistic).map(one -> one.reach(rank, dimension)).orElseGet(OptionalDouble::empty);
    }

    /** Returns whether statistics were judged, none is above its level, and none could be. */
    private boolean isMute(List<Reading> readings, GapAssessment window) {
        List<Reading> judged = readings.stream()
                .filter(reading -> reading.exceeded() != null && !isSilent(reading))
                .toList();
        return !judged.isEmpty()
                && judged.stream()
                        .allMatch(reading -> !Boolean.TRUE.equals(reading.exceeded())
                                && reading.level() instanceof Level.Known known
                                && isOutOfReach(reading.statistic(), known.value(), window.rank()));
    }

    /** Returns whether that there is no new group is all that is left of several statistics. */
    private static boolean isSilenceAlone(List<Reading> readings) {
        return readings.size() > 1 && readings.stream().allMatch(reading -> reading.leftOut() || isSilent(reading));
    }

    /** Returns whether it is about new groups alone and sees none, which says nothing of the rest. */
    private static boolean isSilent(Reading reading) {
        return isNewGroup(reading.statistic()) && !Boolean.TRUE.equals(reading.exceeded());
    }

    /**
     * Returns these readings, with those out of reach undecided: no reading says that the window is like the baseline.
     */
    private static List<Reading> undecided(List<Reading> readings, GapAssessment window) {
        String needed = readings.stream()
                .filter(reading -> reading.exceeded() != null)
                .map(reading -> String.format(
                        Locale.ROOT,
                        "%s needs %.4g and makes sense up to %.4g",
                        reading.statistic(),
                        reading.threshold(),
                        reach(reading.statistic(), window.rank(), window.dimension())
                                .orElseThrow()))
                .collect(Collectors.joining(", "));
        String reason = ("no threshold of a window of %d rows can be reached: %s; use longer windows, "
                        + "or make a baseline whose clean windows differ less: %s")
                .formatted(window.rows(), needed, MIX);
        return readings.stream()
                .map(reading -> reading.exceeded() == null ? reading : reading.undecidedBecause(reason))
                .toList();
    }

    /**
     * Returns the level of a statistic in windows of as many rows as the clean windows of a size have on average.
     *
     * @param size one of the baseline's
     */
    public Level level(String statistic, NullSample size) {
        Levels known = levelsOfRank.computeIfAbsent(size.rank(), this::levels).get(statistic);
        if (known == null) {
            return new Level.Unknown("no clean window of rank %d has %s: it is left out, the others decide"
                    .formatted(size.rank(), statistic));
        }
        return known.threshold() == null
                ? threshold.level(size.rank(), baseline.dimension(), Threshold.Clean.NONE)
                : known.threshold().level(size);
    }

    /**
     * Returns whether the window came without what scores its requests (their totals for this baseline, as where it was
     * open when the baseline changed; rows that vary), or the rest of the model gave no answer: none of these says
     * anything about the window.
     */
    private static boolean lacksSource(String statistic, GapAssessment window) {
        return window.statistic(statistic).isEmpty()
                && Statistic.find(statistic)
                        .filter(one -> one.scoresRequests() || one.source() == Statistic.Source.HEAD)
                        .isPresent();
    }

    /**
     * Returns the reading that decides: one above its level before one that cannot be judged, that before the others,
     * and among those the one with the largest score (of a drifted site: one above what it must come back below comes
     * first). Of those above their levels one whose level keeps the promise comes first. A statistic that is left out
     * does not decide.
     */
    public static Reading deciding(DriftState state, List<Reading> readings) {
        Comparator<Reading> farthest = Comparator.comparing((Reading reading) -> !reading.leftOut())
                .thenComparing(reading -> Boolean.TRUE.equals(reading.exceeded()))
                .thenComparing(reading -> Boolean.TRUE.equals(reading.exceeded()) && !lacksPromise(reading))
                .thenComparing(reading -> reading.undecided() != null)
                .thenComparing(reading -> state.drifted() && reading.isAboveClear())
                .thenComparing(reading -> reading.score() != null)
                .thenComparingDouble(Reading::height);
        Reading deciding = readings.get(0);
        for (Reading reading : readings) {
            if (farthest.compare(reading, deciding) > 0) {
                deciding = reading;
            }
        }
        return deciding;
    }

    private Map<String, Levels> levels(int rank) {
        Map<String, Levels> levels = new LinkedHashMap<>();
        List<String> together =
                threshold.isCalibrated() || clear.isCalibrated() ? together(baseline, statistics, rank) : statistics;
        for (String statistic : together) {
            levels.put(
                    statistic,
                    new Levels(sizes(together, statistic, threshold, rank), sizes(together, statistic, clear, rank)));
        }
        return levels;
    }

    private @Nullable CalibratedSizes sizes(List<String> together, String statistic, Threshold asked, int rank) {
        return asked.isCalibrated() ? new CalibratedSizes(baseline, together, statistic, asked, rank) : null;
    }

    private static Reading leftOut(String statistic, GapAssessment window, String reason) {
        OptionalDouble value = window.statistic(statistic);
        Level none = new Level.Unknown(reason);
        return new Reading(statistic, value.isPresent() ? value.getAsDouble() : null, null, none, none, reason, true);
    }

    private static String undefined(String statistic, GapAssessment window) {
        return "%s is undefined: %s"
                .formatted(statistic, window.undefined().getOrDefault(statistic, "no reason given"));
    }

    private Reading reading(String statistic, Levels levels, GapAssessment window) {
        OptionalDouble value = window.statistic(statistic);
        Level level = level(statistic, threshold, levels.threshold(), window);
        Level back = level(statistic, clear, levels.clear(), window);
        String undecided = null;
        if (value.isEmpty()) {
            undecided = undefined(statistic, window);
        } else if (level instanceof Level.Unknown unknown) {
            undecided = unknown.reason();
        } else if (back instanceof Level.Unknown unknown) {
            undecided = unknown.reason();
        }
        return new Reading(
                statistic,
                value.isPresent() ? value.getAsDouble() : null,
                levels.threshold() == null || value.isEmpty()
                        ? null
                        : levels.threshold().score(value.getAsDouble(), window.rows()),
                level,
                back,
                undecided,
                false);
    }

    private static Level level(
            String statistic, Threshold asked, @Nullable CalibratedSizes sizes, GapAssessment window) {
        if (asked instanceof Threshold.ShareOfLargestGap && !isGap(statistic)) {
            return new Level.Unknown(statistic + " is not a gap: it has no largest value to take a share of");
        }
        return sizes == null
                ? asked.level(window.rank(), window.dimension(), Threshold.Clean.NONE)
                : sizes.level(window.rows());
    }
}
