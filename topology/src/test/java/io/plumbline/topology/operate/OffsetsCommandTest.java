package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which topics have a place of the applications; {@code OffsetsIT} moves one. */
class OffsetsCommandTest {

    private static final String YAML = """
            application_id: plumb
            kafka: {bootstrap.servers: "broker:9092"}
            sites: {layer.1: {explainer: e, baseline: b, rank: 2}, layer.2: {explainer: e, baseline: b, rank: 2}}
            """;

    @Test
    void theStandingsOfSitesAreReadByTheMonitorWhereThereAreModels() {
        MonitorConfig sites = MonitorConfig.parse(YAML, "p.yaml", Path.of("."));
        MonitorConfig models =
                MonitorConfig.parse(YAML + "models: {m: {sites: [layer.1, layer.2]}}\n", "p.yaml", Path.of("."));
        assertEquals(List.of("activations", "plumbline-moments", "adaptation-requests"), OffsetsCommand.read(sites));
        assertEquals(
                List.of("activations", "plumbline-moments", "plumbline-model-windows", "adaptation-requests"),
                OffsetsCommand.read(models));
        assertEquals(models.monitorApplicationId(), OffsetsCommand.group(models, "plumbline-model-windows"));
        assertEquals(models.adapterApplicationId(), OffsetsCommand.group(models, "adaptation-requests"));
        UsageException refused =
                assertThrows(UsageException.class, () -> OffsetsCommand.group(sites, "plumbline-model-windows"));
        assertTrue(String.valueOf(refused.getMessage()).contains("neither application reads it"));
    }
}
