package io.plumbline.topology.cli;

import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The rest of the model, to measure what it does with clean windows. */
public final class CleanHeadOptions {

    /** Bytes of whole requests that a baseline keeps. */
    public static final long MOST_BYTES = 64L << 20;

    @Mixin
    HeadPlace place = new HeadPlace();

    @Option(
            names = "--head-requests",
            paramLabel = "N",
            description = "With --head, which measures KL, Delta CE, top-1 agreement and loss recovered of clean"
                    + " windows, so that they can have thresholds: whole requests that are run of a window, and kept"
                    + " for the gate. The dumps hold whole requests. Default: 32.")
    @Nullable
    Integer requests;

    /** Returns whether a head is to be run; refuses a device without one. */
    public boolean isAsked() {
        return place.isGiven();
    }

    /** Checks what needs no file. */
    public void check(List<Path> dumps) {
        if (!isAsked()) {
            if (requests != null) {
                throw new UsageException("--head-requests needs --head: it is the model that is run on them");
            }
            return;
        }
        if (requests != null && (requests < 1 || requests > DownstreamSettings.MOST_REQUESTS)) {
            throw new UsageException(
                    "--head-requests = %d: expected 1 to %d".formatted(requests, DownstreamSettings.MOST_REQUESTS));
        }
        if (dumps.isEmpty()) {
            throw new UsageException("--head needs --activations FILE...: whole requests are read from dumps");
        }
    }

    /** Opens it; null where no head was given. */
    public BehaviourProvider.@Nullable Clean open(Explainer explainer, List<Path> dumps) throws IOException {
        return !isAsked()
                ? null
                : BehaviourOptions.provider()
                        .openClean(
                                place.location(),
                                explainer,
                                dumps,
                                requests == null ? DownstreamSettings.DEFAULT_REQUESTS : requests);
    }
}
