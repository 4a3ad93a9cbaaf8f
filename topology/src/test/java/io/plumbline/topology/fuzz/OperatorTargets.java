package io.plumbline.topology.fuzz;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Reads bytes in memory. */
final class OperatorTargets {

    private OperatorTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("safetensors", Part.SAFETENSORS, blobs(), 64, blob -> takeAll(Safetensors.parse(blob)))
                        .weighing(12),
                FuzzTarget.of("activation batch", Part.SAFETENSORS, batches(), 48, ActivationBatch::parse)
                        .weighing(12),
                FuzzTarget.of("moment tile", Part.BYTES, tiles(), 8, OperatorTargets::takeTile),
                FuzzTarget.of("row sample", Part.BYTES, samples(), 32, OperatorTargets::takeSample),
                FuzzTarget.of("request totals", Part.BYTES, totals(), 32, OperatorTargets::takeTotals),
                // SnakeYAML scans one unbroken word in quadratic time: most for a word as long as the largest file.
                FuzzTarget.of("configuration", Part.YAML, configurations(), 2_200, OperatorTargets::takeConfiguration)
                        .allowing(1L << 20)
                        .weighing(6));
    }

    private static void takeTile(byte[] bytes) {
        MomentTile.decode(ByteBuffer.wrap(bytes)).encode();
    }

    private static void takeConfiguration(byte[] bytes) {
        MonitorConfig.parse(new String(bytes, StandardCharsets.UTF_8), "plumbline.yaml", Path.of("."));
    }

    static void takeAll(Safetensors blob) {
        blob.metadata().values().forEach(Objects::requireNonNull);
        for (String name : blob.names()) {
            Tensor tensor = blob.tensor(name);
            tensor.toDoubles();
            if (tensor.dtype().isFloatingPoint()) {
                tensor.toFloats();
            } else {
                tensor.toLongs();
            }
        }
    }

    private static void takeSample(byte[] part) {
        RowSample sample = RowSample.ofCapacity(16);
        sample.mergeEncoded(part);
        sample.encode(RowSample.RECORD_PART_BYTES);
    }

    static List<byte[]> blobs() {
        Matrix rows = ActivationRecords.integerRows(1, 4, 3);
        SafetensorsWriter allTypes =
                SafetensorsWriter.create().metadata("format", "pt").metadata("who", "Größe");
        for (DType dtype : List.of(DType.F64, DType.F32, DType.F16, DType.BF16)) {
            allTypes.add("matrix " + dtype, dtype, rows);
        }
        allTypes.addLongs("ids", 1, -2, Long.MAX_VALUE)
                .addRaw("nothing", DType.F32, new long[] {0, 3}, ByteBuffer.allocate(0))
                .addRaw("scalar", DType.F32, new long[0], ByteBuffer.allocate(4))
                .addRaw("cube", DType.I32, new long[] {2, 2, 2}, ByteBuffer.allocate(32));
        return List.of(
                ActivationRecords.blob(rows),
                allTypes.toBytes(),
                SafetensorsWriter.create().metadata("only", "metadata").toBytes());
    }

    static List<byte[]> batches() {
        Matrix rows = ActivationRecords.integerRows(2, 4, 3);
        List<byte[]> batches = new ArrayList<>();
        for (DType dtype : List.of(DType.F64, DType.F32, DType.F16, DType.BF16)) {
            batches.add(
                    SafetensorsWriter.create().add("activations", dtype, rows).toBytes());
        }
        batches.add(ActivationRecords.blob(rows, ActivationRecords.integerRows(3, 4, 2)));
        batches.add(SafetensorsWriter.create()
                .add("hidden_states", DType.BF16, rows)
                .addLongs("token_ids", 5, 6, 7, 8)
                .addRaw("more", DType.I32, new long[] {2}, ByteBuffer.allocate(8))
                .toBytes());
        return batches;
    }

    private static List<byte[]> tiles() {
        List<byte[]> tiles = new ArrayList<>();
        for (int dimension : new int[] {1, 3, 12}) {
            for (MomentTile tile : MomentTile.cut(dimension, 5, new double[MomentTile.stateLength(dimension)])) {
                tiles.add(tile.encode());
            }
        }
        return tiles;
    }

    private static List<byte[]> samples() {
        RowSample autoencoder = RowSample.ofCapacity(8);
        RowSample transcoder = RowSample.ofCapacity(3);
        for (int row = 0; row < 5; row++) {
            autoencoder.offer(RowSample.hash(1, row), 1, 3, new float[] {row, 2}, null);
            transcoder.offer(RowSample.hash(2, row), 2, 3, new float[] {row}, new float[] {3, 4});
        }
        List<byte[]> parts = new ArrayList<>(autoencoder.encode(100));
        parts.addAll(transcoder.encode(1_000));
        return parts;
    }

    private static void takeTotals(byte[] part) {
        RequestTotals totals = RequestTotals.decode(part);
        RequestTotals.ofCapacity(totals.projection(), 4).merge(totals).encode(RowSample.RECORD_PART_BYTES);
    }

    private static List<byte[]> totals() {
        RequestProjection.Id projection =
                RequestProjection.of(Matrix.identity(2)).id();
        RequestTotals totals = RequestTotals.ofCapacity(projection, 6);
        for (long request = 0; request < 9; request++) {
            totals.add(request, request % 2 == 0 ? null : "Anfrage ü " + request, 3, new double[] {request, -1});
        }
        return totals.encode(200);
    }

    private static List<byte[]> configurations() {
        String other = """
                application_id: other
                kafka: {bootstrap.servers: "broker:9092", monitor.num.stream.threads: 2, security.protocol: SSL}
                topics: {activations: rows, dead_letters: letters}
                window: {size: 1h, advance: 5m, grace: 90s, idle_close: off, minimum_rows: 10}
                state: {store: rocksdb, directory: /var/lib/plumbline}
                limits: {sites: 3, width: 64, rows_per_record: 10, requests_per_window: 5, ahead: 2h}
                sites:
                  "blocks.7 é": {explainer: a, baseline: b, rank: 2, threshold: 1.0, clear: 0.5, debounce: 1 of 1}
                  another:
                    explainer: a
                    baseline: b
                    rank: 3
                    trigger: whitened_mean_shift
                    threshold: {quantile: 0.9}
                    adaptation: {profile: paper, rank: 2, lambda_preservation: 0.1, lambda_geometric: 0.2, alpha: 0.5}
                """;
        return List.of(
                MonitorConfig.defaultFile().getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
