package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import java.util.Locale;

/** The two Kafka Streams applications. */
public enum Application {
    MONITOR,
    ADAPTER;

    /**
     * Its Kafka {@code application.id}, which is also its consumer group and the beginning of its transactional ids.
     */
    String id(MonitorConfig config) {
        return this == MONITOR ? config.monitorApplicationId() : config.adapterApplicationId();
    }

    /** As it is spoken of in messages. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
