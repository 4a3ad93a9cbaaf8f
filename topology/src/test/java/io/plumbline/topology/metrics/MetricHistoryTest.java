package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowMetric;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WindowReports;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MetricHistoryTest {

    @Test
    void aMetricStandsInOnePieceASeriesInOrderOfTimeAndALaterReportInThePlaceOfAnEarlier() throws Exception {
        MetricHistory history = new MetricHistory("lab");
        history.add(report("b", 120_001, 1));
        history.add(report("a", 60_000, 2));
        history.add(report("b", 60_000, 3));
        history.add(report("b", 60_000, 4));
        List<String> lines = text(history).lines().toList();
        int begin = lines.indexOf("# TYPE plumbline_decoder_version gauge");
        assertEquals(
                List.of(
                        "# TYPE plumbline_decoder_version gauge",
                        "# HELP plumbline_decoder_version " + WindowMetric.DECODER_VERSION.help(),
                        "plumbline_decoder_version{job=\"lab\",site=\"a\"} 2.0 60.000",
                        "plumbline_decoder_version{job=\"lab\",site=\"b\"} 4.0 60.000",
                        "plumbline_decoder_version{job=\"lab\",site=\"b\"} 1.0 120.001"),
                lines.subList(begin, begin + 5));
        assertEquals("# EOF", lines.get(lines.size() - 1));
        List<String> types =
                lines.stream().filter(line -> line.startsWith("# TYPE")).toList();
        assertEquals(new ArrayList<>(types.stream().distinct().toList()), types);
        int ofSeveralTargets = 1;
        assertEquals(WindowMetric.all().size() - ofSeveralTargets, types.size());
    }

    @Test
    void theTargetLayerThatStoodWorstInAWindowStandsAtItsEnd() throws Exception {
        MetricHistory history = new MetricHistory("lab");
        history.add(Json.read("""
                {"site": "clt", "window_start_ms": 0, "window_end_ms": 60000, "verdict": "drifted",
                 "worst_block": "targets.3", "trigger": "faithfulness_gap", "trigger_value": 2.0, "threshold": 1.0,
                 "drifted_blocks": ["targets.3"], "blocks": []}
                """.getBytes(StandardCharsets.UTF_8), TargetsReport.class));
        String line = "plumbline_worst_block{job=\"lab\",site=\"clt\",block=\"targets.3\"} 1.0 60.000\n";
        String text = text(history);
        assertTrue(text.contains(line), text);
    }

    @Test
    void aSiteMayBeCalledAnything() throws Exception {
        MetricHistory history = new MetricHistory("lab");
        history.add(report("a\"b\\c\nd", 60_000, 1));
        String line = "plumbline_decoder_version{job=\"lab\",site=\"a\\\"b\\\\c\\nd\"} 1.0 60.000\n";
        assertTrue(text(history).contains(line), () -> line);
    }

    private static String text(MetricHistory history) throws Exception {
        StringBuilder text = new StringBuilder();
        history.writeTo(text);
        return text.toString();
    }

    private static WindowReport report(String site, long endMs, long version) throws Exception {
        ObjectNode json =
                (ObjectNode) new JsonMapper().readTree(Json.text(WindowReports.of(WindowReports.distinctNumbers())));
        json.put("site", site).put("window_end_ms", endMs).put("decoder_version", version);
        return Json.read(json.toString().getBytes(StandardCharsets.UTF_8), WindowReport.class);
    }
}
