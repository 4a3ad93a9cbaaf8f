package io.plumbline.topology.config;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The names of the topics between model servers, the two applications and those who read the results.
 *
 * @param activations rows from the model servers; with {@value ActivationTopic#TENANT} in it, a topic a tenant
 * @param moments tiles of closed panes, monitor to itself
 * @param windowReports one JSON report per site and window
 * @param modelWindows how the sites of a model stand, monitor to itself; used where there is a model
 * @param adaptationRequests from the monitor to the adapter
 * @param adaptationReports from the adapter: what was fitted, published or refused
 * @param decoders published decoders; compacted
 * @param deadLetters records that could not be used, with the reason
 * @param configuration versions of the configuration that the instances agreed on
 * @param baselines what each site was judged by and since when, and what is proposed; compacted
 */
public record TopicNames(
        String activations,
        String moments,
        String windowReports,
        String modelWindows,
        String adaptationRequests,
        String adaptationReports,
        String decoders,
        String deadLetters,
        String configuration,
        String baselines) {

    public static final TopicNames DEFAULT = new TopicNames(
            "activations",
            "plumbline-moments",
            "window-reports",
            "plumbline-model-windows",
            "adaptation-requests",
            "adaptation-reports",
            "decoders",
            "dead-letters",
            "plumbline-configuration",
            "plumbline-baselines");

    /** The length of the longest name that Kafka takes. */
    static final int LONGEST = 249;

    /** Returns the topic of activations of a tenant; null: that of all. */
    public String activationsOf(@Nullable String tenant) {
        return tenant == null ? activations : activations.replace(ActivationTopic.TENANT, tenant);
    }

    /** The names by their keys in the configuration file, in the order a record meets them. */
    public Map<String, String> byKey() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("activations", activations);
        names.put("moments", moments);
        names.put("window_reports", windowReports);
        names.put("model_windows", modelWindows);
        names.put("adaptation_requests", adaptationRequests);
        names.put("adaptation_reports", adaptationReports);
        names.put("decoders", decoders);
        names.put("dead_letters", deadLetters);
        names.put("configuration", configuration);
        names.put("baselines", baselines);
        return names;
    }
}
