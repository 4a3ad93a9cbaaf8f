package io.plumbline.topology.runtime;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * A filter of the log, named in {@code logback.xml}, that leaves out what Kafka's consumer warns of whenever tasks move
 * to another thread or instance.
 *
 * <p>In a cooperative rebalance a task that moves belongs to nobody until its old owner has let go of it; the leader of
 * the group then warns that its topic is "not assigned to any members", and takes the warning back in no line. That is
 * so at nearly every start. Other warnings of the same logger stay, such as a poll that took too long. A task that
 * stays without an owner is seen by {@code /readyz} and by the alerts on standstills.
 */
public final class MovingTasks extends TurboFilter {

    private static final String LOGGER = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator";
    private static final String WARNING = "The following subscribed topics are not assigned to any members";

    @Override
    public FilterReply decide(
            @Nullable Marker marker,
            Logger logger,
            Level level,
            @Nullable String format,
            Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        boolean expected = format != null && LOGGER.equals(logger.getName()) && format.contains(WARNING);
        return expected ? FilterReply.DENY : FilterReply.NEUTRAL;
    }
}
