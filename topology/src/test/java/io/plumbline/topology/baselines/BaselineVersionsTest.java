package io.plumbline.topology.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which records are taken from the topic, and that no failure ends the noting. */
class BaselineVersionsTest {

    private static final BaselineVersion B = Described.replacing("blocks.7", "b", 2, "a");
    private static final long NOW_MS = Described.MADE_MS + Duration.ofDays(2).toMillis();

    @Test
    void aRecordOfAVersionThatIsADayAheadIsRefused() {
        byte[] record = Json.bytes(B);
        assertEquals(B, BaselineVersions.read(record, NOW_MS));
        assertEquals(B, BaselineVersions.read(record, Described.MADE_MS));
        assertThrows(
                IllegalArgumentException.class,
                () -> BaselineVersions.read(
                        record, Described.MADE_MS - Duration.ofDays(1).toMillis()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"schema\":1 | \"schema\":2",
                "\"site\":\"blocks.7\" | \"site\":null",
                "\"site\":\"blocks.7\" | \"site\":\" \"",
                "\"sha256\":\"bbbb | \"sha256\":\"bbb",
                "\"content_sha256\":\"bbbb | \"content_sha256\":\"BBBB",
                "\"created_ms\":1 | \"created_ms\":253402300800000,\"x\":1",
                "\"created_ms\":1 | \"created_ms\":-1,\"x\":1",
                "\"source\":\"the last 500 aligned windows\" | \"source\":null",
                "\"revision\":2 | \"revision\":0",
                "\"rank\":32,\"approver\" | \"rank\":0,\"approver\"",
                "\"name\":\"ada\" | \"name\":null",
                "\"version\":2 | \"version\":0",
                "\"topic_ms\":1 | \"topic_ms\":-1,\"x\":1",
                "\"from_ms\":1 | \"from_ms\":9223372036854775807,\"x\":1",
                "\"agreed_ms\":1 | \"agreed_ms\":9223372036854775807,\"x\":1",
                "\"replaces_sha256\":\"aaaa | \"replaces_sha256\":\"<b>a",
                "\"comparison\":{\"replaces_sha256\":\"aaaa | \"comparison\":{\"replaces_sha256\":null,\"x\":\"aaaa",
                "\"replaces_created_ms\":1 | \"replaces_created_ms\":8640000000000001,\"x\":1",
                "\"rows_old_new\":[200001,200002] | \"rows_old_new\":[200001]",
                "\"rows_old_new\":[200001,200002] | \"rows_old_new\":null",
                "\"reconstruction_fvu_old_new\":[0.201, | \"reconstruction_fvu_old_new\":[null,",
                "\"reconstruction_fvu_old_new\":[0.201, | \"reconstruction_fvu_old_new\":[1,2,",
                "\"shift_ratio_of_old\":0.125 | \"shift_ratio_of_old\":1e999",
                "\"gap_to_old\":1.5 | \"gap_to_old\":1e999",
                "\"statistic\":\"kl\" | \"statistic\":null",
                "\"thresholds\":[ | \"thresholds\":[null,",
            })
    void aRecordThatNoMonitorWroteIsRefused(String was, String becomes) {
        String json = Json.text(B);
        assertTrue(json.contains(was), json);
        byte[] record = json.replace(was, becomes).getBytes(StandardCharsets.UTF_8);
        assertThrows(IllegalArgumentException.class, () -> BaselineVersions.read(record, NOW_MS));
    }

    @ParameterizedTest
    @CsvSource({"\"blocks.7\",1001", "\"the last 500 aligned windows\",2001", "\"ada\",1001", "\"kl\",101"})
    void aRecordWithALongerTextIsRefused(String was, int length) {
        String json = Json.text(B);
        assertTrue(json.contains(was), json);
        byte[] record = json.replace(was, "\"" + "x".repeat(length) + "\"").getBytes(StandardCharsets.UTF_8);
        assertThrows(IllegalArgumentException.class, () -> BaselineVersions.read(record, NOW_MS));
        byte[] shorter = json.replace(was, "\"" + "x".repeat(length - 1) + "\"").getBytes(StandardCharsets.UTF_8);
        BaselineVersions.read(shorter, NOW_MS);
    }

    @Test
    void anErrorEndsNoLaterTask(@TempDir Path folder) throws Exception {
        MonitorConfig config = WatchedFolder.create(folder, "127.0.0.1:1");
        CountDownLatch told = new CountDownLatch(3);
        BaselineListener broken = new BaselineListener() {
            @Override
            public void onUnwritten(int baselines) {
                told.countDown();
                throw new OutOfMemoryError("of a test");
            }
        };
        try (BaselineVersions versions = BaselineVersions.follow(config, broken, Duration.ofMillis(20))) {
            assertNotNull(versions);
            assertTrue(told.await(10, TimeUnit.SECONDS), () -> told.getCount() + " to come");
        }
    }
}
