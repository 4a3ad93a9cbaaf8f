package io.plumbline.topology.cli;

import io.plumbline.causal.HeadDevice;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that says what runs the head of a file. */
public final class HeadDeviceOption {

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "What runs the file of --head: cpu, cuda, or cuda:N for a further GPU. Default: cpu.")
    @Nullable
    String device;

    /** Refuses a device where no file is given that it could run. */
    void requireHead(boolean given) {
        if (!given && device != null) {
            throw new UsageException(
                    "--device = %s: expected only beside --head; a worker has its own --device".formatted(device));
        }
    }

    /** Returns the device, the machine's own processor where none was given. */
    HeadDevice device() {
        try {
            return device == null ? HeadDevice.CPU : HeadDevice.parse(device);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--device = %s: %s".formatted(device, refused.getMessage()));
        }
    }
}
