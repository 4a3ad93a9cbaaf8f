package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.SequentialRule;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides how many rows of a window are encoded: as many as in the baseline's clean windows. Fewer rows scatter more
 * than clean windows say: where the sample or the configured rate gives fewer, what rests on reconstruction is
 * undefined.
 */
final class EncodedRowsRule {

    private static final List<Statistic> OF_CODES = Arrays.stream(Statistic.values())
            .filter(statistic -> statistic.source() == Statistic.Source.CODES)
            .toList();

    private final int ofCleanWindows;
    private final int atMost;

    EncodedRowsRule(Baseline baseline, SiteSettings settings) {
        ofCleanWindows = baseline.encodedRows();
        atMost = settings.explained().encodedRows();
    }

    /** Returns the rows of a window's sample that are encoded. */
    List<SampledRow> head(ClosedWindow window) {
        List<SampledRow> rows = window.sample().rows();
        return rows.subList(0, Math.min(Math.min(ofCleanWindows, atMost), rows.size()));
    }

    /** Returns the assessment without what too few encoded rows say. */
    GapAssessment apply(ClosedWindow window, GapAssessment assessment) {
        RowSample sample = window.sample();
        int limit = Math.min(atMost, sample.isLimited() ? sample.size() : sample.capacity());
        String reason = limit < Math.min(ofCleanWindows, assessment.rows()) ? reason(sample, limit) : null;
        if (reason == null) {
            return assessment;
        }
        GapAssessment without = assessment;
        for (Statistic statistic : OF_CODES) {
            without = without.with(statistic, new Value.Undefined(reason));
        }
        return without;
    }

    /** Returns why a statistic that decides, warns or is added up cannot be trusted to be there, or null. */
    static @Nullable String refusal(Baseline baseline, SiteSettings settings) {
        SequentialRule sequential = settings.alarms().sequential();
        return settings.explained().encodedRows() >= baseline.encodedRows()
                ? null
                : Stream.of(
                                settings.alarms().triggers(),
                                settings.alarms().warn(),
                                sequential == null ? List.<String>of() : sequential.statistics())
                        .flatMap(List::stream)
                        .filter(name -> OF_CODES.stream()
                                .anyMatch(statistic -> statistic.label().equals(name)))
                        .findFirst()
                        .map(name -> "%s: %s; or decide without it: trigger: [%s]"
                                .formatted(
                                        name,
                                        reason(settings.explained().encodedRows(), baseline.encodedRows()),
                                        Stream.concat(
                                                        DriftJudge.TRIGGERS_WITHOUT_CODES.stream(),
                                                        Stream.of(Statistic.NEW_GROUP.label()))
                                                .collect(Collectors.joining(", "))))
                        .orElse(null);
    }

    private String reason(RowSample sample, int limit) {
        return limit == atMost || !sample.isLimited()
                ? reason(limit, ofCleanWindows)
                : ("reconstruction is measured on %s here and on %s in the baseline's clean windows; "
                                + "moment records brought too few sampled rows, have their producers send more")
                        .formatted(Amounts.count(limit, "row"), Amounts.number(ofCleanWindows));
    }

    private static String reason(int limit, int ofCleanWindows) {
        return ("reconstruction is measured on %s here and on %s in the baseline's clean windows; "
                        + "raise sample.rows or sample.encoded_rows_per_second, "
                        + "or run `plumbline baseline --encoded-rows %d`")
                .formatted(Amounts.count(limit, "row"), Amounts.number(ofCleanWindows), limit);
    }
}
