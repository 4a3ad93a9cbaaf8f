package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.MomentRecordWriter;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.PipelineMeters;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests sites whose decoder writes normalised rows, or leaves a skip connection out, against what SAELens computed. */
class DecoderSpaceTopologyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path CASES = Path.of("..", "operators", "src", "test", "resources", "explainers");
    private static final long T0 = 1_700_000_000_000L;
    private static final int RANK = 8;
    private static final int ROWS_OF_REQUEST = 8;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "saelens_layer_norm",
                "saelens_constant_norm_rescale",
                "saelens_skip_transcoder",
                "sparsify_skip_autoencoder"
            })
    void aWindowHasTheGapOfTheRowsThatAreWrittenAndTheFvuOfThoseThatCame(String name) throws IOException {
        JsonNode published =
                JSON.readTree(CASES.resolve(name).resolve("case.json").toFile());
        Path path =
                CASES.resolve(name).resolve(published.get("explainer").asText()).toAbsolutePath();
        Explainer explainer = Formats.read(path);
        Matrix activations;
        Matrix targets;
        try (Safetensors io = Safetensors.open(CASES.resolve(name).resolve("io.safetensors"))) {
            activations = io.tensor("activations").toMatrix();
            targets = explainer.isTranscoder() ? io.tensor("targets").toMatrix() : null;
        }
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(RANK), List.of());
        for (int from = 0; from < activations.rows(); from += ROWS_OF_REQUEST) {
            builder.add(explainer.space().of(batch(activations, targets, from)));
        }
        Baseline baseline = builder.build();
        double fvu = published.get("fvu").asDouble();
        assertEquals(fvu, baseline.reconstructionFvu(), 1e-5 * fvu);
        baseline.write(folder.resolve("baseline.safetensors"));
        JsonNode report = report(path, activations, targets);
        assertEquals(fvu, report.get("reconstruction_fvu_trained").asDouble(), 1e-5 * fvu, report.toString());
        assertEquals(fvu, report.get("reconstruction_fvu").asDouble(), 1e-5 * fvu, report.toString());

        SiteGeometry geometry =
                SiteGeometry.of(explainer.decoder(), baseline.moment(), baseline.reconstructionMoment(), RANK);
        Matrix written = explainer.space().of(activations, targets == null ? activations : targets);
        double gap = gap(geometry, written);
        assertEquals(gap, report.get("faithfulness_gap").asDouble(), 1e-5);
        assertTrue(Math.abs(gap - gap(geometry, targets == null ? activations : targets)) > 1e-3, "as they came");
        assertTrue(report.get("second_moment_shift_ratio").asDouble() < 1e-6, report.toString());
    }

    private static double gap(SiteGeometry geometry, Matrix rows) {
        return geometry.assess(SecondMoment.of(rows))
                .value(Statistic.FAITHFULNESS_GAP)
                .orElseThrow();
    }

    private static ActivationBatch batch(Matrix activations, @Nullable Matrix targets, int from) {
        int to = from + ROWS_OF_REQUEST;
        return new ActivationBatch(
                activations.rowRange(from, to), targets == null ? null : targets.rowRange(from, to), null);
    }

    /** Returns the report of a window of all rows; a moment record on the way is a dead letter. */
    private JsonNode report(Path explainer, Matrix activations, @Nullable Matrix targets) throws IOException {
        MonitorConfig config = MonitorConfig.parse("""
                application_id: spaces
                kafka: {bootstrap.servers: "unused:9092"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 8}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                sites:
                  one: {explainer: "%s", baseline: baseline.safetensors, rank: %d, threshold: 3.0, adaptation: {mode: observe}}
                """.formatted(explainer, RANK), "spaces.yaml", folder);
        try (Metrics metrics = Metrics.create(Metrics.Settings.of(config.window(), 1))) {
            metrics.expect(List.of("one"));
            PipelineMeters pipeline = metrics.pipeline();
            try (Streaming stream = new Streaming(
                    MonitorTopology.build(
                            config,
                            WatchedFolder.sites(config),
                            Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                            site -> null,
                            new MonitorTopology.Listeners(pipeline, pipeline, pipeline)),
                    StreamsSettings.monitor(config),
                    folder.resolve("state"))) {
                String topic = config.topics().activations();
                for (int from = 0; from < activations.rows(); from += ROWS_OF_REQUEST) {
                    ActivationBatch batch = batch(activations, targets, from);
                    stream.send(topic, "one", record(batch), T0 + from);
                }
                stream.send(topic, "one", moment(targets == null ? activations : targets), T0 + 100);
                stream.send(topic, "one", record(batch(activations, targets, 0)), T0 + 20_000);
                List<TestRecord<byte[], byte[]>> letters =
                        stream.read(config.topics().deadLetters());
                assertEquals(1, letters.size());
                assertEquals(
                        "unexpected_moment",
                        new String(
                                letters.get(0)
                                        .headers()
                                        .lastHeader("plumbline.reason")
                                        .value(),
                                StandardCharsets.UTF_8));
                return JSON.readTree(
                        stream.read(config.topics().windowReports()).get(0).value());
            }
        }
    }

    private static byte[] moment(Matrix rows) {
        return MomentRecordWriter.of(
                        new MomentRecord.Counts(rows.rows(), 1, 0, 0),
                        new MomentRecord.Pane(T0, 10_000),
                        rows.columns(),
                        SecondMoment.of(rows).state(),
                        DType.F64,
                        1e3)
                .sample(new long[] {-4}, new long[] {9}, new long[] {T0}, List.of(new float[] {1, 2}), null)
                .toBytes();
    }

    private static byte[] record(ActivationBatch batch) {
        SafetensorsWriter writer = SafetensorsWriter.create().add("activations", DType.F32, batch.activations());
        Matrix targets = batch.targets();
        return (targets == null ? writer : writer.add("targets", DType.F32, targets)).toBytes();
    }
}
