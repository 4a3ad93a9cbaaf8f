package io.plumbline.topology.reload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.topology.report.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigVersionTest {

    @Test
    void aVersionIsReadAsItWasWrittenWithTheNumberOfItsRecord() {
        ConfigVersion version = new ConfigVersion(1, 0, "ab".repeat(32), 10, 11, "host", 0, List.of("a: 1 -> 2"));
        assertEquals(
                version.at(6, 12),
                Json.read(Json.bytes(version), ConfigVersion.class).at(6, 12));
        assertEquals(7, version.at(6, 12).version());
        assertEquals(12, version.at(6, 12).fromTheStart().topicMs());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"changes\":[]}",
                "{\"schema\":1,\"sha256\":\"x\",\"from_ms\":1,\"published_by\":\"h\",\"changes\":[]}",
                "[]"
            })
    void whatThisProgramDidNotWriteIsNoVersion(String record) {
        byte[] bytes = record.getBytes(StandardCharsets.UTF_8);
        assertThrows(RuntimeException.class, () -> Json.read(bytes, ConfigVersion.class));
    }
}
