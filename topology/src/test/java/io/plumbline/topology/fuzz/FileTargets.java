package io.plumbline.topology.fuzz;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.probes.ProbeFile;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.wire.DType;
import io.plumbline.wire.NpzFile;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorArchives;
import io.plumbline.wire.TensorFile;
import io.plumbline.wire.TorchFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Reads files a user may have from elsewhere. */
final class FileTargets {

    /**
     * The most bytes of an archive: its end is looked for in its last 64 KiB, and an entry is unpacked in pieces of as
     * much.
     */
    private static final long ARCHIVE_BYTES = 512 * 1024;

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
        targets.add(FuzzTarget.of("npz file", Part.BYTES, npzFiles(), 64, files::openNpz)
                .allowing(ARCHIVE_BYTES)
                .weighing(1));
        targets.add(FuzzTarget.of("torch file", Part.BYTES, torchFiles(), 64, files::openTorch)
                .allowing(ARCHIVE_BYTES)
                .weighing(1));
        targets.add(FuzzTarget.of(
                        "torch pickle",
                        Part.BYTES,
                        List.of(pickle()),
                        256,
                        bytes -> files.openTorch(TensorArchives.torch(bytes, 1, 2, 3, 4, 5, 6)))
                .allowing(ARCHIVE_BYTES)
                .weighing(2));
        targets.add(FuzzTarget.of("probe file", Part.JSON, probes(), 64, files::openProbe)
                .weighing(1));
        targets.add(FuzzTarget.of("baseline file", Part.SAFETENSORS, baselines(folder), 96, files::openBaseline)
                .weighing(1));
        return targets;
    }

    private static List<byte[]> probes() {
        return List.of("{\"coef_\": [[1.5, -2, 0.25]], \"intercept_\": [0.5], \"classes_\": [0, 1]}"
                .getBytes(StandardCharsets.UTF_8));
    }

    private void openProbe(byte[] bytes) throws IOException {
        new ProbeFile(write("any.json", bytes), null, null).read(3);
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

    private void openNpz(byte[] bytes) throws IOException {
        try (NpzFile file = NpzFile.open(write("any.npz", bytes))) {
            takeAll(file);
        }
    }

    private void openTorch(byte[] bytes) throws IOException {
        try (TorchFile file = TorchFile.open(write("any.pt", bytes))) {
            takeAll(file);
        }
    }

    private static void takeAll(TensorFile file) {
        for (String name : file.names()) {
            file.tensor(name).toDoubles();
        }
    }

    private static List<byte[]> npzFiles() {
        byte[] matrix =
                TensorArchives.npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 1, 2, 3, 4, 5, 6);
        byte[] vector = TensorArchives.npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 1, 2);
        Map<String, byte[]> arrays = Map.of("W_enc.npy", matrix, "b_enc.npy", vector);
        return List.of(TensorArchives.zip(arrays, false), TensorArchives.zip(arrays, true));
    }

    private static List<byte[]> torchFiles() {
        return List.of(TensorArchives.torch(pickle(), 1, 2, 3, 4, 5, 6));
    }

    private static byte[] pickle() {
        return new TensorArchives.Pickle()
                .op('}', 'q', 0, '(')
                .text("W")
                .tensor(6, 0, new int[] {2, 3}, new int[] {3, 1})
                .text("turned")
                .tensor(6, 0, new int[] {3, 2}, new int[] {1, 3})
                .text("state")
                .op('}', '(')
                .text("k")
                .op('K', 32)
                .text("of")
                .text("TopK")
                .op('u', 'u', '.')
                .bytes();
    }

    private void openExplainer(List<byte[]> parts) throws IOException {
        Path explainer = Files.createDirectories(folder.resolve("fuzzed-explainer"));
        Files.write(explainer.resolve("cfg.json"), parts.get(0));
        Files.write(explainer.resolve("sae_weights.safetensors"), parts.get(1));
        Explainer read = Formats.read(explainer);
        read.encoder();
        read.decoder().sha256();
    }

    private void openBaseline(byte[] bytes) throws IOException {
        Baseline.read(write("baseline.safetensors", resealed(bytes))).samples();
    }

    /** Seals bytes again: the checksum would stop every other mistake before it is looked at. */
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
        BaselineBuilder builder = BaselineBuilder.of(Formats.read(explainer), List.of(2, 4), List.of(16));
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
