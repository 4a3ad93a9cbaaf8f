package io.plumbline.topology.assessment;

import io.plumbline.topology.report.Sections;
import org.jspecify.annotations.Nullable;

/**
 * Measures one section of a report. {@link Measures} lists all of them.
 *
 * @param <V> what the section holds
 */
@FunctionalInterface
interface Measure<V> {

    /** Takes the time that the section takes, beside the stream: on any thread, from the window alone. */
    Telling<V> of(WindowView view);

    /** Tells the section once the window is judged; on the stream thread, and quick. */
    @FunctionalInterface
    interface Telling<V> {

        /**
         * Returns the section.
         *
         * @param decision what was decided of the window
         * @param told the sections before this one
         */
        @Nullable
        V in(Decision decision, Sections told);
    }
}
