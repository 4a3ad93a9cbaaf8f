package io.plumbline.topology.console;

import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.broker.Grant;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The commands that a person types to change something: the page itself changes nothing. Every word is quoted for a
 * shell.
 */
record Commands(
        @Nullable String approve,
        @Nullable String look,
        @Nullable String rollback,
        @Nullable String pin,
        @Nullable String unpin,
        @Nullable String note) {

    static Commands of(MonitorConfig config, SiteHistory site) {
        boolean adapts = config.adaptations().containsKey(site.site());
        SwapState state = site.swaps() == null ? SwapState.INITIAL : site.swaps();
        SwapState.Waiting waiting = state.forApproval();
        boolean pinned = state.pinned();
        return new Commands(
                waiting == null ? null : order(config, "approve", site.site()) + " --candidate " + waiting.number(),
                state.waiting() == null
                        ? null
                        : order(config, "fetch", site.site()) + " --candidate --explainer FOLDER"
                                + targets(config, site.site())
                                + " --out looked-at",
                state.canGoBack() && !pinned ? order(config, "rollback", site.site()) : null,
                adapts && !pinned ? order(config, "pin", site.site()) : null,
                pinned ? order(config, "unpin", site.site()) : null,
                config.kafka().containsKey("security.protocol")
                        ? "The cluster asks who you are: write --config FILE in place of --bootstrap-servers, a"
                                + " configuration with your login."
                        : null);
    }

    /** Returns the option that lists the target layers of a site with several, as the configuration does. */
    private static String targets(MonitorConfig config, String site) {
        String layers = config.sites().values().stream()
                .map(SiteSettings::id)
                .filter(id -> id.isBlock() && id.group().equals(site))
                .map(id -> String.valueOf(id.target()))
                .collect(Collectors.joining(","));
        return layers.isEmpty() ? "" : " --targets " + layers;
    }

    static String deadLetters(MonitorConfig config) {
        return "plumbline replay --dead-letters%s --bootstrap-servers %s --dry-run"
                .formatted(
                        topic("=", config.topics().deadLetters(), TopicNames.DEFAULT.deadLetters()),
                        Grant.quoted(config.bootstrapServers()));
    }

    private static String order(MonitorConfig config, String verb, String site) {
        TopicNames topics = config.topics();
        boolean isOrder = !verb.equals("fetch");
        return "plumbline decoders %s --bootstrap-servers %s%s%s%s --site %s"
                .formatted(
                        verb,
                        Grant.quoted(config.bootstrapServers()),
                        isOrder
                                ? topic(
                                        " --requests-topic ",
                                        topics.adaptationRequests(),
                                        TopicNames.DEFAULT.adaptationRequests())
                                : "",
                        isOrder
                                ? topic(
                                        " --reports-topic ",
                                        topics.adaptationReports(),
                                        TopicNames.DEFAULT.adaptationReports())
                                : "",
                        isOrder ? "" : topic(" --topic ", topics.decoders(), TopicNames.DEFAULT.decoders()),
                        Grant.quoted(site));
    }

    private static String topic(String option, String name, String otherwise) {
        return name.equals(otherwise) ? "" : option + Grant.quoted(name);
    }
}
