package io.plumbline.topology.operate;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which windows of the past a command is about. */
final class PeriodOptions {

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description =
                    "Windows that end at it or later: 2026-01-01T00:00:00Z, or how long ago, 6h. Default: from the"
                            + " first on.")
    @Nullable
    String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Windows that end before it. Default: to the last.")
    @Nullable
    String to;

    Period period() {
        return Period.of(from, to);
    }
}
