package io.plumbline.topology.cli;

import io.plumbline.causal.HeadDevice;
import io.plumbline.causal.HeadLocation;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say where the rest of the model answers. */
public final class HeadPlace {

    @Option(
            names = "--head",
            paramLabel = "FILE",
            description = "ONNX model of the rest of the network: activations [T, d], or targets and residual [T, d]"
                    + " for a transcoder, to logits [T, V]. A model is a program: load only files you would run.")
    @Nullable
    Path head;

    @Option(
            names = "--worker",
            paramLabel = "ADDRESS",
            description = "Instead of --head: a worker of the Python package (`plumbline-sae downstream-worker`) that"
                    + " runs the rest of the network: unix:PATH or 127.0.0.1:PORT.")
    @Nullable
    String worker;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "What runs the file of --head: cpu, cuda, or cuda:N for a further GPU. Default: cpu.")
    @Nullable
    String device;

    /**
     * Returns whether one is named.
     *
     * @throws UsageException where none is, and a device is
     */
    boolean isGiven() {
        boolean given = head != null || worker != null;
        if (!given) {
            requireNoDevice();
        }
        return given;
    }

    /** Returns the option that names it, for a message. */
    String option() {
        return worker == null ? "--head" : "--worker";
    }

    /**
     * Returns where a head answers.
     *
     * @throws UsageException unless exactly one of file and worker is given, and sound
     */
    public HeadLocation location() {
        if (head != null && worker != null) {
            throw new UsageException("--head and --worker: expected one of them, where the rest of the model answers");
        }
        if (head != null) {
            return new HeadLocation.InFile(head, device());
        }
        requireNoDevice();
        if (worker == null) {
            throw new UsageException("expected --head FILE or --worker ADDRESS, where the rest of the model answers");
        }
        try {
            return HeadLocation.AtWorker.parse(worker, Path.of(""));
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--worker = %s: %s".formatted(worker, refused.getMessage()));
        }
    }

    private void requireNoDevice() {
        if (device != null) {
            throw new UsageException(
                    "--device = %s: expected only beside --head; a worker has its own --device".formatted(device));
        }
    }

    private HeadDevice device() {
        try {
            return device == null ? HeadDevice.CPU : HeadDevice.parse(device);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--device = %s: %s".formatted(device, refused.getMessage()));
        }
    }
}
