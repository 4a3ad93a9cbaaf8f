package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.util.Locale;

/** The two Kafka Streams applications. */
public enum Application {
    MONITOR,
    ADAPTER;

    /**
     * Returns the Kafka {@code application.id}, which is also the consumer group and the beginning of its
     * transactional ids.
     */
    String id(MonitorConfig config) {
        return this == MONITOR ? config.monitorApplicationId() : config.adapterApplicationId();
    }

    /** Returns what messages call the application. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
