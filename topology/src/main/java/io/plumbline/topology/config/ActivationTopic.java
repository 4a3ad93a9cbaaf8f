package io.plumbline.topology.config;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A topic of activations and the sites whose rows come by it: all of them, or those of one tenant where {@code
 * topics.activations} holds {@value #TENANT}. Who may write to the topic may write rows of these sites and of no other.
 *
 * @param topic its name at the broker
 * @param tenant whose it is; null where all sites share one topic
 * @param sites the watched sites, each target of a site with several by its own name
 */
public record ActivationTopic(String topic, @Nullable String tenant, Set<String> sites) {

    /** The place of a tenant's name in {@code topics.activations}. */
    public static final String TENANT = "{tenant}";

    public ActivationTopic {
        sites = Collections.unmodifiableSet(new LinkedHashSet<>(sites));
    }

    /** Returns the name of what reads this topic: a store, a processor or a label, the tenant in front. */
    public String named(String what) {
        return tenant == null ? what : tenant + "-" + what;
    }
}
