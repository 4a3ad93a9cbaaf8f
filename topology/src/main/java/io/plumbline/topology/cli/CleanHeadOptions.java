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

    @Option(
            names = "--head",
            paramLabel = "FILE",
            description =
                    "ONNX model of the rest of the network, as for `plumbline causal`: clean windows then have KL, "
                            + "Delta CE,"
                            + " top-1 agreement and loss recovered too, "
                            + "so that thresholds of these are taken from them, and the"
                            + " file keeps whole requests, on which the gate asks what a refit does to normal "
                            + "traffic. The dumps"
                            + " hold whole requests. A model is a program: load only files you would run.")
    @Nullable
    Path head;

    @Option(
            names = "--worker",
            paramLabel = "ADDRESS",
            description =
                    "Instead of --head: where a worker of the Python package runs the rest of the network: unix:PATH or"
                            + " 127.0.0.1:PORT.")
    @Nullable
    String worker;

    @Mixin
    HeadDeviceOption device = new HeadDeviceOption();

    @Option(
            names = "--head-requests",
            paramLabel = "N",
            description =
                    "With --head: whole requests that are run of a window, and that are kept; as downstream.requests of"
                            + " the site. Default: 32.")
    @Nullable
    Integer requests;

    /** Returns whether a head is to be run. */
    public boolean isAsked() {
        return head != null || worker != null;
    }

    /** Checks what needs no file. */
    public void check(List<Path> dumps) {
        if (!isAsked()) {
            device.requireHead(false);
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
                                HeadPlace.of(head, worker, device),
                                explainer,
                                dumps,
                                requests == null ? DownstreamSettings.DEFAULT_REQUESTS : requests);
    }
}
