package io.plumbline.topology.windows;

/** Watches the second stage. Called on stream threads; implementations must be thread-safe and must not block. */
public interface WindowListener {

    /** Where rows were found to be late. */
    enum Level {
        /** Their pane had closed where they were read. */
        PANE,
        /** Their pane reached the composer after its window had closed without it. */
        WINDOW
    }

    /** {@code rows} rows of {@code site} came after their window had closed; they are in no window. */
    void onLate(String site, long rows, Level level);

    /** {@code nanoseconds} were spent adding {@code rows} rows of {@code site} to their pane. */
    void onAccumulated(String site, int rows, long nanoseconds);

    /** A record of the moments topic was not written by this program, or with other settings; it was skipped. */
    default void onForeign() {}

    /** A window of {@code site} closed with {@code rows} rows. */
    void onWindowClosed(String site, long rows);
}
