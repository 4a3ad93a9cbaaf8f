package io.plumbline.causal;

import io.plumbline.downstream.HeadException;
import io.plumbline.downstream.HeadLimits;
import io.plumbline.downstream.OnnxHead;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.DurationText;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Options that name the head, and limit what it may take. */
final class HeadOptions {

    @Option(
            names = "--head",
            required = true,
            paramLabel = "FILE",
            description = {
                "ONNX model of the rest of the network: activations [T, d], or targets and residual [T, d] for a transcoder, to"
                        + " logits [T, V]. A model is a program: load only files you would run."
            })
    Path head;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "2",
            description = "Threads of one run of the head. Default: ${DEFAULT-VALUE}.")
    int threads;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "30s",
            description = "Longest time for one run of one request. Default: ${DEFAULT-VALUE}.")
    String timeout;

    /** Opens the head of an explainer's site. */
    OnnxHead open(Explainer explainer) {
        return open(head, limits(), explainer);
    }

    /**
     * Opens the head of an explainer's site.
     *
     * @throws UsageException when it is one for another kind or width
     */
    static OnnxHead open(Path head, HeadLimits limits, Explainer explainer) {
        OnnxHead opened = OnnxHead.open(head, limits);
        if (opened.readsResidual() != explainer.isTranscoder()) {
            opened.close();
            throw new UsageException(
                    explainer.isTranscoder()
                            ? "--head = %s reads activations, and the explainer is a transcoder: its head reads targets and residual"
                                    .formatted(head)
                            : "--head = %s reads targets and residual, and the explainer is an autoencoder: its head reads activations"
                                    .formatted(head));
        }
        if (opened.width() >= 0 && opened.width() != explainer.targetWidth()) {
            opened.close();
            throw new UsageException("--head = %s reads rows of %d values, the explainer writes %d"
                    .formatted(head, opened.width(), explainer.targetWidth()));
        }
        return opened;
    }

    private HeadLimits limits() {
        if (threads < 1 || threads > 1_024) {
            throw new UsageException("--threads = %d: expected 1 to 1024".formatted(threads));
        }
        Duration limit;
        try {
            limit = DurationText.parse(timeout);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--timeout = %s: %s".formatted(timeout, refused.getMessage()));
        }
        if (limit.isZero() || limit.isNegative()) {
            throw new UsageException("--timeout = %s: expected more than no time".formatted(timeout));
        }
        return HeadLimits.DEFAULTS.withThreads(threads).withTime(limit);
    }

    /** Says a failure of the head in the words of the command line. */
    static RuntimeException explained(HeadException failed) {
        return failed.fault() == HeadException.Fault.NOT_LOADED || failed.fault() == HeadException.Fault.WRONG_SHAPE
                ? new UsageException(String.valueOf(failed.getMessage()))
                : failed;
    }
}
