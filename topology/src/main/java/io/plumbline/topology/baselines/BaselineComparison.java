package io.plumbline.topology.baselines;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineDiff;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Provenance;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.topology.assessment.SiteSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Says what changes for a site when one baseline takes the place of another, in pairs of old and new. */
public record BaselineComparison(
        @JsonPropertyDescription("SHA-256 of the file of the old one")
        String replacesSha256,

        @JsonPropertyDescription("when the old one was made") @Nullable
        Long replacesCreatedMs,

        @JsonPropertyDescription("rows that the moments are of")
        List<Long> rowsOldNew,

        @JsonPropertyDescription("FVU of the trained decoder on them")
        List<Double> reconstructionFvuOldNew,

        @JsonPropertyDescription("shift of the second moment, divided by the norm of the old one")
        double shiftRatioOfOld,

        @JsonPropertyDescription("gap between the two active subspaces, by rank")
        List<Gap> gaps,

        @JsonPropertyDescription("level of each statistic, rank and size of windows; null: none")
        List<BaselineDiff.Change> thresholds) {

    /** The gap at a rank, and its share of the largest possible one. */
    public record Gap(int rank, double gapToOld, double gapToOldShare) {

        public Gap {
            if (rank < 1 || !Double.isFinite(gapToOld) || !Double.isFinite(gapToOldShare)) {
                throw new IllegalArgumentException(
                        "gap %s, share %s at rank %d: no numbers".formatted(gapToOld, gapToOldShare, rank));
            }
        }
    }

    private static final int LONGEST_STATISTIC = 100;

    public BaselineComparison {
        BaselineVersion.requireHash("replaces_sha256", replacesSha256);
        BaselineVersion.requireTime("replaces_created_ms", replacesCreatedMs);
        rowsOldNew = List.copyOf(rowsOldNew);
        reconstructionFvuOldNew = List.copyOf(reconstructionFvuOldNew);
        if (replacesSha256.isBlank()
                || rowsOldNew.size() != 2
                || reconstructionFvuOldNew.size() != 2
                || !reconstructionFvuOldNew.stream().allMatch(Double::isFinite)
                || !Double.isFinite(shiftRatioOfOld)) {
            throw new IllegalArgumentException("rows %s, FVU %s, shift %s: expected pairs of old and new, and numbers"
                    .formatted(rowsOldNew, reconstructionFvuOldNew, shiftRatioOfOld));
        }
        gaps = List.copyOf(gaps);
        thresholds = List.copyOf(thresholds);
        for (BaselineDiff.Change change : thresholds) {
            BaselineVersion.requireLength("statistic", change.statistic(), LONGEST_STATISTIC);
        }
    }

    /**
     * Compares. <b>Cost:</b> that of {@link BaselineDiff#between}.
     *
     * @param sha256 of the file of the old one
     * @param rule both are asked for a level by it
     * @param triggers the statistics that are judged as one
     */
    public static BaselineComparison between(
            Baseline old, String sha256, Baseline next, Threshold rule, List<String> triggers) {
        return of(BaselineDiff.between(old, next, rule, triggers), old, sha256, next);
    }

    /** Compares as {@link #between} does, at one rank alone. */
    static BaselineComparison betweenAt(
            int rank, Baseline old, String sha256, Baseline next, Threshold rule, List<String> triggers) {
        return of(BaselineDiff.betweenAt(rank, old, next, rule, triggers), old, sha256, next);
    }

    private static BaselineComparison of(BaselineDiff diff, Baseline old, String sha256, Baseline next) {
        Provenance provenance = old.provenance();
        return new BaselineComparison(
                sha256,
                provenance == null ? null : provenance.created().toEpochMilli(),
                List.of(old.rowCount(), next.rowCount()),
                List.of(old.reconstructionFvu(), next.reconstructionFvu()),
                diff.shiftRatio(),
                diff.gaps().entrySet().stream()
                        .map(gap -> new Gap(
                                gap.getKey(),
                                gap.getValue().value(),
                                gap.getValue().value() / gap.getValue().largest()))
                        .toList(),
                diff.thresholds());
    }

    /** Returns the site's own rule where it has a calibrated one, otherwise the default promise. */
    public static Threshold rule(@Nullable SiteSettings site, Duration windowSize) {
        return site != null && site.alarms().threshold().isCalibrated()
                ? site.alarms().threshold()
                : new Threshold.FalseAlarms(
                        AlarmBudget.standard(), AlarmLaw.tumbling(DriftPolicy.STANDARD, windowSize));
    }

    /** Returns the numbers by the words that `baseline --replaces` prints. */
    public Map<String, @Nullable Object> words() {
        Map<String, @Nullable Object> words = new LinkedHashMap<>();
        words.put("replaces_sha256", replacesSha256);
        words.put(
                "replaces_created",
                replacesCreatedMs == null
                        ? null
                        : Instant.ofEpochMilli(replacesCreatedMs).toString());
        words.put("rows_old_new", rowsOldNew);
        words.put("reconstruction_fvu_old_new", reconstructionFvuOldNew);
        words.put("shift_ratio_of_old", shiftRatioOfOld);
        for (Gap gap : gaps) {
            words.put("gap_to_old_rank_%d".formatted(gap.rank()), gap.gapToOld());
            words.put("gap_to_old_share_rank_%d".formatted(gap.rank()), gap.gapToOldShare());
        }
        for (BaselineDiff.Change change : thresholds) {
            String of = "rank_%d_rows_%d_old_new".formatted(change.rank(), change.rowsPerWindow());
            words.put(
                    "threshold_%s_%s".formatted(change.statistic(), of),
                    Arrays.asList(change.oldLevel(), change.newLevel()));
            if (change.statistic().equals(DriftJudge.DEFAULT_TRIGGER)) {
                words.put("clean_windows_" + of, Arrays.asList(change.oldWindows(), change.newWindows()));
            }
        }
        return words;
    }

    /** Returns this with the gaps and levels of one rank alone. */
    BaselineComparison at(int rank) {
        return new BaselineComparison(
                replacesSha256,
                replacesCreatedMs,
                rowsOldNew,
                reconstructionFvuOldNew,
                shiftRatioOfOld,
                gaps.stream().filter(gap -> gap.rank() == rank).toList(),
                thresholds.stream().filter(change -> change.rank() == rank).toList());
    }

    /** Returns the gap at a rank; null where neither baseline has clean windows of it. */
    public @Nullable Gap gap(int rank) {
        return gaps.stream().filter(gap -> gap.rank() == rank).findFirst().orElse(null);
    }
}
