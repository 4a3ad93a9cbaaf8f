package io.plumbline.topology.panes;

import java.util.Locale;

/** The reasons why accepted rows are in no window. A fixed set, so that a counter by reason stays small. */
public enum LateReason {
    /** Event time had passed the end of their pane by the grace period where they were read. */
    AFTER_GRACE,
    /** The pane had been closed where they were read, because the site was silent for the idle timeout. */
    AFTER_IDLE,
    /**
     * The rows' pane came to the composer after a window that holds it had closed: their partition had counted as
     * silent.
     */
    WINDOW_CLOSED,
    /**
     * The rows' pane came from a partition that was no longer waited for ({@link WindowSettings#maxHold}), after a
     * window that holds it had closed.
     */
    HELD_TOO_LONG,
    /** The rows' site was taken out of the configuration while their pane was open, and did not come back. */
    NOT_CONFIGURED;

    /** The reason as it stands in reports and metric labels: lower case, underscores. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
