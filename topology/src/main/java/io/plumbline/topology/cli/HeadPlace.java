package io.plumbline.topology.cli;

import io.plumbline.causal.HeadLocation;
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
     * @param device what runs the file
     * @throws UsageException unless exactly one of them is given, and sound
     */
    public static HeadLocation of(@Nullable Path head, @Nullable String worker, HeadDeviceOption device) {
        if (head != null && worker != null) {
            throw new UsageException("--head and --worker: expected one of them, where the rest of the model answers");
        }
        if (head != null) {
            return new HeadLocation.InFile(head, device.device());
        }
        device.requireHead(false);
        if (worker == null) {
            throw new UsageException("expected --head FILE or --worker ADDRESS, where the rest of the model answers");
        }
        try {
            return HeadLocation.AtWorker.parse(worker, Path.of(""));
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--worker = %s: %s".formatted(worker, refused.getMessage()));
        }
    }
}
