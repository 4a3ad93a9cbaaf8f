package io.plumbline.topology;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The site of a {@link WatchedFolder} whose features are active where a dimension is above 1: on quiet rows features 0
 * to 3 and 8 to 11, on drifted rows the other eight.
 */
public final class FiringFolder {

    private FiringFolder() {}

    /** @param features the site's {@code features} in the configuration */
    public static MonitorConfig create(Path folder, String bootstrapServers, String features) throws IOException {
        WatchedFolder.create(folder, bootstrapServers);
        Path weights = folder.resolve("explainer/sae_weights.safetensors");
        double[] bias = new double[WatchedFolder.FEATURES];
        Arrays.fill(bias, -1.0);
        SafetensorsWriter raised = SafetensorsWriter.create();
        try (Safetensors tensors = Safetensors.open(weights)) {
            raised.add("W_enc", DType.F32, tensors.tensor("W_enc").toMatrix())
                    .addVector("b_enc", DType.F32, bias)
                    .add("W_dec", DType.F32, tensors.tensor("W_dec").toMatrix())
                    .addVector("b_dec", DType.F32, new double[WatchedFolder.WIDTH]);
        }
        raised.writeTo(weights);
        BaselineBuilder builder = BaselineBuilder.of(Formats.read(folder.resolve("explainer")), List.of(4), List.of());
        for (int record = 0; record < 4 * WatchedFolder.RECORDS; record++) {
            builder.add(new ActivationBatch(WatchedFolder.quiet(-1 - record), null, null));
        }
        Baseline baseline = builder.build();
        baseline.write(folder.resolve("baseline.safetensors"));
        Path file = folder.resolve(WatchedFolder.FILE);
        String yaml = Files.readString(file)
                .replaceFirst("(\\n +)(rank: 4)", "$1$2$1features: " + features.replace("$", "\\$"));
        Files.writeString(file, yaml);
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, folder);
    }
}
