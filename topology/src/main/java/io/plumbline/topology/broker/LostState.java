package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.windows.WindowStage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.TopicDescription;

/**
 * Finds state that was lost between two runs: a change-log that is gone or empty while the group's offsets say that
 * records were read. Kafka Streams makes such a change-log anew and goes on behind the offsets without a word.
 */
final class LostState {

    /** The stores that hold something as soon as rows were read; any other may rightly be empty. */
    private static final List<String> FILLED_AT_ONCE = List.of(WindowStage.PANES_STORE, WindowStage.WINDOWS_STORE);

    /**
     * Holds a change-log whose state was lost.
     *
     * @param records up to how many records of {@code source} the group has read
     * @param what the state that the change-log held
     */
    record Lost(
            String changelog,
            boolean gone,
            String group,
            long records,
            String source,
            String what,
            String consequence) {}

    private LostState() {}

    /** Returns each change-log among the planned topics whose state was lost. */
    static List<Lost> find(
            TopicClient client,
            MonitorConfig config,
            List<TopicPlan.Planned> planned,
            Map<String, TopicDescription> existing) {
        Map<Application, Map<String, Long>> read = new HashMap<>();
        Map<String, Long> ends = client.ends(planned.stream()
                .filter(topic -> topic.source() != null && existing.containsKey(topic.name()))
                .map(topic -> existing.get(topic.name()))
                .toList());
        List<Lost> lost = new ArrayList<>();
        for (TopicPlan.Planned topic : planned) {
            String source = topic.source();
            if (source == null) {
                continue;
            }
            boolean gone = !existing.containsKey(topic.name());
            if (gone || (isFilledAtOnce(topic) && ends.getOrDefault(topic.name(), 1L) == 0)) {
                Application owner = topic.readers().iterator().next();
                long offsets = read.computeIfAbsent(owner, application -> read(client, config, application))
                        .getOrDefault(source, 0L);
                if (offsets > 0) {
                    lost.add(new Lost(
                            topic.name(), gone, owner.id(config), offsets, source, topic.what(), consequence(owner)));
                }
            }
        }
        return lost;
    }

    private static boolean isFilledAtOnce(TopicPlan.Planned changelog) {
        return FILLED_AT_ONCE.stream().anyMatch(store -> changelog.name().endsWith("-%s-changelog".formatted(store)));
    }

    /** Returns up to which offset the application has read each topic, summed over the partitions. */
    private static Map<String, Long> read(TopicClient client, MonitorConfig config, Application application) {
        Map<String, Long> read = new HashMap<>();
        client.committed(application.id(config)).forEach((partition, place) -> {
            if (StartingOffsets.isRead(place)) {
                read.merge(partition.topic(), place.offset(), Long::sum);
            }
        });
        return read;
    }

    private static String consequence(Application owner) {
        return owner == Application.MONITOR
                ? "Rows that were read before are missing in the windows that were open, and verdicts begin anew"
                : "Versions, candidates and waiting requests that only it held are forgotten";
    }
}
