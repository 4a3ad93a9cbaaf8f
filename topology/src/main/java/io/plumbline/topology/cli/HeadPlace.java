package io.plumbline.topology.cli;

import io.plumbline.behaviour.HeadDevice;
import io.plumbline.behaviour.HeadLocation;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads where a head answers from options of a command. */
public final class HeadPlace {

    private HeadPlace() {}

    /**
     * Returns where a head answers.
     *
     * @param head value of {@code --head}
     * @param worker value of {@code --worker}
     * @param device value of {@code --device}
     * @throws UsageException unless exactly one of them is given, and sound
     */
    public static HeadLocation of(@Nullable Path head, @Nullable String worker, @Nullable String device) {
        if (head != null && worker != null) {
            throw new UsageException("--head and --worker: expected one of them, where the rest of the model answers");
        }
        if (head != null) {
            return new HeadLocation.InFile(head, device(device));
        }
        if (device != null) {
            throw new UsageException(
                    "--device = %s: expected only beside --head: a worker is told its own device".formatted(device));
        }
        if (worker == null) {
            throw new UsageException("expected --head FILE or --worker ADDRESS, where the rest of the model answers");
        }
        try {
            return HeadLocation.AtWorker.parse(worker, Path.of(""));
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--worker = %s: %s".formatted(worker, refused.getMessage()));
        }
    }

    private static HeadDevice device(@Nullable String text) {
        if (text == null) {
            return HeadDevice.CPU;
        }
        try {
            return HeadDevice.parse(text);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--device = %s: %s".formatted(text, refused.getMessage()));
        }
    }
}
