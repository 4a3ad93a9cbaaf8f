package io.plumbline.topology;

import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.adaptation.AdapterProcessor;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.topology.emission.DecoderPartitioner;
import io.plumbline.topology.ingest.Repeats;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;

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

    private AdapterTopology() {}

    public static Topology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            ActiveDecoders activeDecoders,
            AdaptationListener listener) {
        return build(config, sites, activeDecoders, listener, new Repeats());
    }

    /** @param repeats counts what is read again and again */
    public static Topology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            ActiveDecoders activeDecoders,
            AdaptationListener listener,
            Repeats repeats) {
        return build(config.topics(), sites, config.adaptations(), activeDecoders, listener, repeats);
    }

    /** The topology as {@link TopicPlan} needs it: which topics and stores there are depends on no site. */
    static DescribedTopology describe(MonitorConfig config, AdaptationListener listener) {
        return build(config.topics(), Map.of(), Map.of(), site -> null, listener, new Repeats());
    }

    private static DescribedTopology build(
            TopicNames topics,
            Map<String, WatchedSite> sites,
            Map<String, AdaptationSettings> adaptations,
            ActiveDecoders activeDecoders,
            AdaptationListener listener,
            Repeats repeats) {
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
                repeats.counting(AdapterProcessor.supplier(sites, adaptations, activeDecoders, listener, changelog)),
                "adaptation-requests");
        topology.addProcessor(
                "emit", DecoderEmitter.supplier(listener, "decoders", "adaptation-reports", changelog), "adapt");
        topology.addSink("decoders", topics.decoders(), out, out, new DecoderPartitioner(), "emit");
        topology.addSink("adaptation-reports", topics.adaptationReports(), out, out, "emit");
        return topology;
    }
}
