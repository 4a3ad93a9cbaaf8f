package io.plumbline.topology.cli;

import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * Draws a bar on standard error, for people only: the launcher sets {@code -Dplumbline.terminal=true} when both outputs
 * are a terminal. (Java cannot tell: its console is there only when standard <em>input</em> is one too, and since 22
 * always.)
 */
public final class Progress implements AutoCloseable {

    /** The property by which the launcher says that a person looks on. */
    public static final String TERMINAL = "plumbline.terminal";

    private static final int UPDATE_MS = 200;

    private final @Nullable ProgressBar bar;

    private Progress(@Nullable ProgressBar bar) {
        this.bar = bar;
    }

    /** Begins a bar over so many rows. */
    public static Progress of(String task, long rows) {
        return of(task, rows, " rows");
    }

    public static Progress of(String task, long count, String unit) {
        if (!Boolean.getBoolean(TERMINAL)) {
            return new Progress(null);
        }
        return new Progress(new ProgressBarBuilder()
                .setTaskName(task)
                .setInitialMax(count)
                .setUnit(unit, 1)
                .showSpeed()
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(UPDATE_MS)
                .setConsumer(new ConsoleProgressBarConsumer(System.err))
                .build());
    }

    /** Moves on by so many. */
    public void advance(long count) {
        if (bar != null) {
            bar.stepBy(count);
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}
