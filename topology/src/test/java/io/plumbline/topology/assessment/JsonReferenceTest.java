package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import io.plumbline.comparison.ExplainerComparison;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.Repository;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.report.BlockStanding;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.SiteStanding;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Holds the tables of docs/reference/json.md to the records that are written; sections are in the schema alone. With
 * {@code -Dplumbline.write.documents=true} it writes them anew.
 */
class JsonReferenceTest {

    private static final Path PAGE = Repository.path("docs", "reference", "json.md");
    private static final String HEAD = "| key | what it is |\n|---|---|\n";
    private static final SnakeCaseStrategy SNAKE_CASE = new SnakeCaseStrategy();
    private static final List<Class<?>> RECORDS = List.of(
            WindowReport.class,
            TargetsReport.class,
            BlockStanding.class,
            ModelReport.class,
            SiteStanding.class,
            AdaptationReport.class,
            ExplainerComparison.class);

    @Test
    void theTablesAreThoseOfTheRecords() throws IOException {
        String text = Files.readString(PAGE);
        String expected = with(text, "Statistic", statistics());
        for (Class<?> type : RECORDS) {
            StringBuilder table = new StringBuilder(HEAD);
            addRows(table, type, "");
            expected = with(expected, type.getSimpleName(), table.toString());
        }
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(PAGE, expected);
        } else {
            assertEquals(expected, text, "run this test with -Dplumbline.write.documents=true and commit the page");
        }
    }

    private static String with(String page, String name, String table) {
        return Repository.withTable(page, name, JsonReferenceTest.class, table);
    }

    /** Adds a row for each key of a record, those of a group in the place of the group, without a window's numbers. */
    private static void addRows(StringBuilder table, Class<?> type, String prefix) {
        for (RecordComponent component : type.getRecordComponents()) {
            JsonUnwrapped group = component.getAccessor().getAnnotation(JsonUnwrapped.class);
            if (group == null) {
                String key = prefix + SNAKE_CASE.translate(component.getName());
                addRow(table, key, description(component.getAccessor()));
            } else if (component.getType() == Sections.class) {
                Sections.ALL.forEach(kind -> addRow(table, kind.key(), kind.help()));
            } else if (component.getType() != GapAssessment.class) {
                addRows(table, component.getType(), group.prefix());
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            JsonProperty derived = method.getAnnotation(JsonProperty.class);
            if (derived != null) {
                addRow(table, derived.value(), description(method));
            }
        }
    }

    private static String description(Method of) {
        return Objects.requireNonNull(of.getAnnotation(JsonPropertyDescription.class), () -> of + " has no description")
                .value();
    }

    /** Returns the keys whose metric is called as they are, a line each, and a table of the others. */
    private static String statistics() {
        StringBuilder alike = new StringBuilder();
        StringBuilder table = new StringBuilder("\n| key | metric |\n|---|---|\n");
        for (Statistic statistic : Statistic.values()) {
            Statistic.Series series = statistic.series();
            String metric = series.label() == null
                    ? "`%s`".formatted(series.metric())
                    : "`%s{%s=\"%s\"}`".formatted(series.metric(), series.label(), series.value());
            if (statistic.isShown() && metric.equals("`plumbline_%s`".formatted(statistic.label()))) {
                alike.append("* `%s`%n".formatted(statistic.label()));
            } else {
                addRow(table, statistic.label(), statistic.isShown() ? metric : "none: " + statistic.help());
            }
        }
        return alike.append(table).toString();
    }

    private static void addRow(StringBuilder table, String key, String meaning) {
        table.append("| `%s` | %s |%n".formatted(key, meaning));
    }
}
