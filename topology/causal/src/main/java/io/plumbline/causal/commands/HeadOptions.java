package io.plumbline.causal.commands;

import io.plumbline.causal.heads.HeadException;
import io.plumbline.causal.heads.HeadLimits;
import io.plumbline.causal.heads.OpenHead;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.cli.HeadPlace;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import java.time.Duration;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that name the head, and limit what it may take. */
final class HeadOptions {

    @Mixin
    HeadPlace place = new HeadPlace();

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

    /**
     * Opens the head of an explainer's site.
     *
     * @throws UsageException when none was named, or it is one for another kind or width
     */
    OpenHead open(Explainer explainer) {
        return OpenHead.open(place.location(), limits(), explainer);
    }

    private HeadLimits limits() {
        if (threads < 1 || threads > 1_024) {
            throw new UsageException("--threads = %d: expected 1 to 1024".formatted(threads));
        }
        Duration limit = Options.duration("--timeout", timeout);
        if (limit.isZero() || limit.isNegative()) {
            throw new UsageException("--timeout = %s: expected more than no time".formatted(timeout));
        }
        return HeadLimits.DEFAULTS.withThreads(threads).withTime(limit);
    }

    /** Says a failure of the head in the words of the command line. */
    static RuntimeException explained(HeadException failed) {
        return switch (failed.fault()) {
            case NOT_LOADED, WRONG_SHAPE, UNREACHABLE -> new UsageException(String.valueOf(failed.getMessage()));
            case NOT_FINITE, TIMED_OUT, FAILED -> failed;
        };
    }
}
