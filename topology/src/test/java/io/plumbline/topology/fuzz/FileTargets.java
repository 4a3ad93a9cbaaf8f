package io.plumbline.topology.fuzz;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.calibration.CleanWindowPass;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.ActivationFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Files a user may have from elsewhere. */
final class FileTargets {

    private final Path folder;

    private FileTargets(Path folder) {
        this.folder = folder;
    }

    static List<FuzzTarget> all(Path folder) throws IOException {
        FileTargets files = new FileTargets(folder);
        List<FuzzTarget> targets = new ArrayList<>();
        targets.add(
                FuzzTarget.of("safetensors file", Part.SAFETENSORS, OperatorTargets.blobs(), 64, files::openSafetensors)
                        .weighing(1));
        targets.add(FuzzTarget.of("activation file", Part.SAFETENSORS, dumps(), 64, files::openActivations)
                .weighing(1));
        targets.add(new FuzzTarget(
                        "explainer folder",
                        List.of(Part.JSON, Part.SAFETENSORS),
                        explainers(folder),
                        files::openExplainer,
                        96)
                .weighing(1));
        targets.add(FuzzTarget.of("baseline file", Part.SAFETENSORS, baselines(folder), 96, files::openBaseline)
                .weighing(1));
        return targets;
    }

    private void openSafetensors(byte[] bytes) throws IOException {
        try (Safetensors file = Safetensors.open(write("any.safetensors", bytes))) {
            OperatorTargets.takeAll(file);
        }
    }

    private void openActivations(byte[] bytes) throws IOException {
        try (ActivationFile file = ActivationFile.open(write("dump.safetensors", bytes))) {
            for (int request = 0; request < file.requests(); request++) {
                file.request(request);
                file.requestAsRecord(request);
            }
        }
    }

    private void openExplainer(List<byte[]> parts) throws IOException {
        Path explainer = Files.createDirectories(folder.resolve("fuzzed-explainer"));
        Files.write(explainer.resolve("cfg.json"), parts.get(0));
        Files.write(explainer.resolve("sae_weights.safetensors"), parts.get(1));
        Explainer read = Explainer.read(explainer);
        read.encoder();
        read.decoder().sha256();
    }

    private void openBaseline(byte[] bytes) throws IOException {
        Baseline.read(write("baseline.safetensors", resealed(bytes))).samples();
    }

    /** The checksum would stop every other mistake before it is looked at. */
    private static byte[] resealed(byte[] bytes) {
        try {
            Safetensors blob = Safetensors.parse(bytes);
            SafetensorsWriter again = SafetensorsWriter.create();
            blob.metadata().forEach(again::metadata);
            for (String name : blob.names()) {
                Tensor tensor = blob.tensor(name);
                long[] shape =
                        tensor.shape().stream().mapToLong(Long::longValue).toArray();
                again.addRaw(name, tensor.dtype(), shape, tensor.bytes());
            }
            return again.sealed().toBytes();
        } catch (SafetensorsException broken) {
            return bytes;
        }
    }

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(folder.resolve(name), bytes);
    }

    private static List<byte[]> dumps() {
        Matrix rows = ActivationRecords.integerRows(3, 5, 4);
        SafetensorsWriter requests = SafetensorsWriter.create()
                .add("activations", DType.BF16, rows)
                .add("targets", DType.F32, rows)
                .addLongs("token_ids", 1, 2, 3, 4, 5)
                .addLongs("request_offsets", 0, 2, 5);
        return List.of(ActivationRecords.blob(rows), requests.toBytes());
    }

    private static List<List<byte[]>> explainers(Path folder) throws IOException {
        List<List<byte[]>> folders = new ArrayList<>();
        folders.add(
                explainer("standard", "\"apply_b_dec_to_input\": true, \"normalize_activations\": \"none\"", false));
        folders.add(explainer("topk", "\"k\": 2, \"apply_b_dec_to_input\": false", false));
        folders.add(explainer("jumprelu", "\"apply_b_dec_to_input\": false", true));
        folders.add(explainer("transcoder", "\"d_out\": 3, \"activation_fn\": \"relu\"", false));
        WatchedFolder.create(folder.resolve("watched"), "localhost:9092");
        Path watched = folder.resolve("watched").resolve("explainer");
        folders.add(List.of(
                Files.readAllBytes(watched.resolve("cfg.json")),
                Files.readAllBytes(watched.resolve("sae_weights.safetensors"))));
        return folders;
    }

    private static List<byte[]> explainer(String architecture, String rest, boolean thresholds) {
        SplittableRandom random = new SplittableRandom(7);
        SafetensorsWriter weights = SafetensorsWriter.create()
                .add("W_enc", DType.F32, random(random, 3, 5))
                .addVector("b_enc", DType.F32, new double[5])
                .add("W_dec", DType.F16, random(random, 5, 3))
                .addVector("b_dec", DType.F32, new double[3]);
        if (thresholds) {
            weights.addVector("threshold", DType.F32, new double[5]);
        }
        String config = "{\"architecture\": \"%s\", \"d_in\": 3, \"d_sae\": 5, %s}".formatted(architecture, rest);
        return List.of(config.getBytes(java.nio.charset.StandardCharsets.UTF_8), weights.toBytes());
    }

    private static Matrix random(SplittableRandom random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-8, 9) / 8.0;
        }
        return matrix;
    }

    private static List<byte[]> baselines(Path folder) throws IOException {
        Path explainer = folder.resolve("watched").resolve("explainer");
        BaselineBuilder builder = BaselineBuilder.of(Explainer.read(explainer), List.of(2, 4), List.of(16));
        for (int record = 0; record < 8; record++) {
            builder.add(new ActivationBatch(WatchedFolder.quiet(record), null, null));
        }
        CleanWindowPass windows = builder.secondPass();
        for (int record = 0; record < 8; record++) {
            windows.add(new ActivationBatch(WatchedFolder.quiet(record), null, null));
        }
        Path file = folder.resolve("good-baseline.safetensors");
        windows.build().write(file);
        return List.of(Files.readAllBytes(file));
    }
}
