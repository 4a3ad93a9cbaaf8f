package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineDiff;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Provenance;
import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares a baseline with the one that it is made to replace. */
public final class Replacement {

    private final Baseline old;
    private final String sha256;

    private Replacement(Baseline old, String sha256) {
        this.old = old;
        this.sha256 = sha256;
    }

    /**
     * Reads it.
     *
     * @throws UsageException when it is not there, or of another explainer
     */
    public static Replacement of(Path file, Explainer explainer) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new UsageException("--replaces = %s: no such file".formatted(file));
        }
        return new Replacement(Options.baseline(file, explainer), Sha256.of(file));
    }

    /** The site's own rule where it has a calibrated one, otherwise the default promise. */
    public static Threshold rule(@Nullable SiteSettings site, Duration windowSize) {
        return site != null && site.alarms().threshold().isCalibrated()
                ? site.alarms().threshold()
                : new Threshold.FalseAlarms(
                        AlarmBudget.standard(), AlarmLaw.tumbling(DriftPolicy.STANDARD, windowSize));
    }

    public Provenance provenance(Instant created, String source) {
        return Provenance.replacing(old, sha256, created, source);
    }

    /**
     * Adds what would change, in pairs of old and new.
     *
     * @param triggers the statistics that are judged as one
     */
    public void putDiff(Answer answer, Baseline baseline, Threshold rule, List<String> triggers) {
        BaselineDiff diff = BaselineDiff.between(old, baseline, rule, triggers);
        Provenance provenance = old.provenance();
        answer.put("replaces_sha256", sha256)
                .put(
                        "replaces_created",
                        provenance == null ? null : provenance.created().toString())
                .put("rows_old_new", Arrays.asList(old.rowCount(), baseline.rowCount()))
                .put("reconstruction_fvu_old_new", Arrays.asList(old.reconstructionFvu(), baseline.reconstructionFvu()))
                .put("shift_ratio_of_old", diff.shiftRatio());
        diff.gaps().forEach((rank, gap) -> answer.put("gap_to_old_rank_%d".formatted(rank), gap.value())
                .put("gap_to_old_share_rank_%d".formatted(rank), gap.value() / gap.largest()));
        for (BaselineDiff.Change change : diff.thresholds()) {
            String of =
                    "%s_rank_%d_rows_%d_old_new".formatted(change.statistic(), change.rank(), change.rowsPerWindow());
            answer.put("threshold_" + of, Arrays.asList(change.oldLevel(), change.newLevel()));
            if (change.statistic().equals(DriftJudge.DEFAULT_TRIGGER)) {
                answer.put(
                        "clean_windows_rank_%d_rows_%d_old_new".formatted(change.rank(), change.rowsPerWindow()),
                        Arrays.asList(change.oldWindows(), change.newWindows()));
            }
        }
    }
}
