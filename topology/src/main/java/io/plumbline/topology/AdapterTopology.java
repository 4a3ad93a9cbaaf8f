package io.plumbline.topology;

import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.adaptation.AdapterProcessor;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.topology.emission.DecoderPartitioner;
import io.plumbline.topology.ingest.Repeats;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;
import org.jspecify.annotations.Nullable;

/**
 * The adapter: from requests to published decoders.
 *
 * <pre>
 * (adaptation-requests) ─► adapt ─────────────────────► emit ─► decoders
 *                     [request-parts] [swaps]     [decoder-versions] └► adaptation-reports
 * </pre>
 *
 * <p>An application of its own: a refit takes seconds, and a sub-topology of the monitor would share its threads, its poll
 * interval and its transactions. All records of a decoder are one transaction.
 */
public final class AdapterTopology {

    /** Of a topology that is only looked at. */
    private static final PublishedCandidates NOTHING = new PublishedCandidates() {
        @Override
        public Candidate read(String site, long number) {
            throw new IllegalStateException("there are none");
        }

        @Override
        public @Nullable SwapState lastTold(String site) {
            return null;
        }
    };

    private AdapterTopology() {}

    public static Topology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            ActiveDecoders activeDecoders,
            PublishedCandidates candidates,
            AdaptationListener listener) {
        return build(
                config,
                sites,
                activeDecoders,
                candidates,
                listener,
                new Repeats(),
                OutputGuard.silent(config.topics()));
    }

    /**
     * @param repeats counts what is read again and again
     * @param outputs goes on where a topic does not take what is written
     */
    public static Topology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            ActiveDecoders activeDecoders,
            PublishedCandidates candidates,
            AdaptationListener listener,
            Repeats repeats,
            OutputGuard outputs) {
        return build(config, sites, config.adaptations(), activeDecoders, candidates, listener, repeats, outputs);
    }

    /** The topology as {@link TopicPlan} needs it: which topics and stores there are depends on no site. */
    static DescribedTopology describe(MonitorConfig config, AdaptationListener listener) {
        return build(
                config,
                Map.of(),
                Map.of(),
                site -> null,
                NOTHING,
                listener,
                new Repeats(),
                OutputGuard.silent(config.topics()));
    }

    private static DescribedTopology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            Map<String, AdaptationSettings> adaptations,
            ActiveDecoders activeDecoders,
            PublishedCandidates candidates,
            AdaptationListener listener,
            Repeats repeats,
            OutputGuard outputs) {
        TopicNames topics = config.topics();
        Map<String, String> changelog = Topics.changelogSettings();
        ByteArraySerializer out = new ByteArraySerializer();
        DescribedTopology topology = new DescribedTopology();
        topology.addSource(
                AutoOffsetReset.earliest(),
                "adaptation-requests",
                MonitorTopology.eventTime(),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer(),
                topics.adaptationRequests());
        topology.addProcessor(
                "adapt",
                repeats.counting(AdapterProcessor.supplier(
                        sites, adaptations, config.swapRules(), activeDecoders, candidates, listener, changelog)),
                "adaptation-requests");
        topology.addProcessor(
                "emit", DecoderEmitter.supplier(listener, "decoders", "adaptation-reports", changelog), "adapt");
        topology.addSink("decoders", topics.decoders(), out, out, new DecoderPartitioner(), "emit");
        topology.addSink("adaptation-reports", topics.adaptationReports(), out, outputs.values(), "emit");
        return topology;
    }
}
