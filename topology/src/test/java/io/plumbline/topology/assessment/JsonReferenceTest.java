package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import io.plumbline.activity.ActivityChange;
import io.plumbline.activity.ActivityChanges;
import io.plumbline.attribution.FailingFeature;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.Repository;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.report.BlockStanding;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.DownstreamReport;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds docs/reference/json.md to the records that are written. */
class JsonReferenceTest {

    private static final Path PAGE = Repository.path("docs", "reference", "json.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z0-9_]+)` \\| (.*) \\|$");

    @Test
    void theKeysOfAWindowReportAreThose() throws IOException {
        List<String> keys = keys(WindowReport.class);
        keys.add(keys.indexOf("threshold") + 1, "over_threshold");
        assertEquals(keys, rows("## Window report", "The numbers of the window", 1));
    }

    @Test
    void everyStatisticIsThereInItsOwnWords() throws IOException {
        String begin = "| statistic |";
        String end = "## Downstream";
        List<String> labels =
                Arrays.stream(Statistic.values()).map(Statistic::label).toList();
        List<String> missing = new ArrayList<>(labels);
        missing.removeAll(rows(begin, end, 1));
        assertEquals(List.of(), missing, "docs/reference/json.md has no row of these statistics");
        assertEquals(labels, rows(begin, end, 1), "in the order of Statistic");
        assertEquals(Arrays.stream(Statistic.values()).map(Statistic::help).toList(), rows(begin, end, 2));
    }

    @Test
    void theKeysOfACoverageAreThose() throws IOException {
        assertEquals(keys(CoverageReport.class), rows("## Coverage", "## Cause", 1));
    }

    @Test
    void theKeysOfACauseAndOfABreakdownAreThose() throws IOException {
        assertEquals(keys(DriftCause.class), rows("## Cause", "\\| change \\|", 1));
        assertEquals(keys(DriftCause.Change.class), rows("| change |", "## Breakdown", 1));
        assertEquals(keys(Breakdown.class), rows("## Breakdown", "\\| value \\|", 1));
        assertEquals(keys(Breakdown.OfValue.class), rows("| value |", "## Failing feature", 1));
    }

    @Test
    void theKeysOfAFailingFeatureAreThose() throws IOException {
        assertEquals(keys(FailingFeature.class), rows("## Failing feature", "## Feature activity", 1));
    }

    @Test
    void theKeysOfFeatureActivityAreThose() throws IOException {
        assertEquals(keys(ActivityChanges.class), rows("## Feature activity", "## Activity change", 1));
        assertEquals(keys(ActivityChange.class), rows("## Activity change", "## Targets report", 1));
    }

    @Test
    void theKeysOfATargetsReportAreThose() throws IOException {
        List<String> keys = keys(TargetsReport.class);
        keys.add(keys.indexOf("threshold") + 1, "over_threshold");
        assertEquals(keys, rows("## Targets report", "\\| key of a block \\|", 1));
        assertEquals(keys(BlockStanding.class), rows("| key of a block |", "## Adaptation report", 1));
    }

    @Test
    void theKeysOfAnAdaptationReportAreThose() throws IOException {
        assertEquals(keys(AdaptationReport.class), rows("## Adaptation report", "\\z", 1));
    }

    @Test
    void theKeysOfWhatTheRestOfTheModelDidAreThose() throws IOException {
        assertEquals(keys(DownstreamReport.class), rows("## Downstream", "## Coverage", 1));
    }

    /** Returns the keys of a record in JSON, those of a group in the place of the group; numbers of a window not. */
    private static List<String> keys(Class<?> type) {
        PropertyNamingStrategies.SnakeCaseStrategy snakeCase = new PropertyNamingStrategies.SnakeCaseStrategy();
        List<String> keys = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            JsonUnwrapped group = component.getAccessor().getAnnotation(JsonUnwrapped.class);
            if (group == null) {
                keys.add(snakeCase.translate(component.getName()));
            } else if (component.getType() == Sections.class) {
                Sections.ALL.forEach(kind -> keys.add(kind.key()));
            } else if (component.getType().isRecord() && component.getType() != GapAssessment.class) {
                keys(component.getType()).forEach(key -> keys.add(group.prefix() + key));
            }
        }
        return keys;
    }

    private static List<String> rows(String begin, String end, int group) throws IOException {
        String text = Files.readString(PAGE);
        String from = text.substring(text.indexOf(begin) + begin.length());
        return ROW.matcher(from.split(end, 2)[0])
                .results()
                .map((MatchResult row) -> row.group(group))
                .toList();
    }
}
