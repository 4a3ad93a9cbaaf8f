package io.plumbline.topology.adaptation;

import io.plumbline.topology.assessment.AdaptationMessage;
import java.util.List;

/**
 * Finds the commands of a person that lie behind requests which the adapter has not come to yet, so that no command
 * waits for the refits before it.
 */
public interface WaitingCommands {

    /** Stands for the offset that the adapter committed last. */
    long FROM_COMMITTED = -1;

    /**
     * A command that was found ahead.
     *
     * @param offset where it lies in its partition
     * @param timestampMs broker time
     */
    record Waiting(long offset, String site, AdaptationMessage.Command command, long timestampMs) {}

    /**
     * The commands of one look, ascending by offset.
     *
     * @param next the offset where the next look begins
     */
    record Found(List<Waiting> commands, long next) {
        public Found {
            commands = List.copyOf(commands);
        }
    }

    /**
     * Returns the commands at this offset and behind it. Takes seconds at most, and finds none rather than fail: a
     * command that is not found is carried out when its record is reached.
     *
     * @param from an offset, or {@link #FROM_COMMITTED}
     */
    Found after(int partition, long from);
}
