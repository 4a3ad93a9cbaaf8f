package io.plumbline.topology.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class WindowReportTest {

    @Test
    void itsJsonIsOneFlatObjectWhoseKeysStandInThisOrder() throws IOException {
        assertEquals(golden(), Json.text(WindowReports.of(WindowReports.distinctNumbers())));
    }

    @Test
    void readBackItIsTheReport() throws IOException {
        assertEquals(
                WindowReports.of(WindowReports.distinctNumbers()),
                Json.read(golden().getBytes(StandardCharsets.UTF_8), WindowReport.class));
    }

    private static String golden() throws IOException {
        try (InputStream text =
                Objects.requireNonNull(WindowReportTest.class.getResourceAsStream("window-report.json"))) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
        }
    }
}
