package io.plumbline.topology;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdapterTask;
import io.plumbline.topology.adaptation.Adapting;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.adaptation.WaitingCommands;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.topology.emission.DecoderPartitioner;
import io.plumbline.topology.emission.SignedCommands;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.kafka.NextOffsets.Input;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.progress.Repeats;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.Topology;

/**
 * Builds the adapter's topology: from requests to published decoders.
 *
 * <pre>
 * (adaptation-requests) ─► adapt ─────────────────────► emit ─► decoders
 *                     [request-parts] [swaps]     [decoder-versions] └► adaptation-reports
 * </pre>
 *
 * <p>An application of its own: a refit takes seconds, and a sub-topology of the monitor would share its threads, its
 * poll interval and its transactions. All records of a decoder are one transaction.
 */
public final class AdapterTopology {

    private AdapterTopology() {}

    public static Topology build(
            MonitorConfig config,
            Map<String, WatchedSite> sites,
            ActiveDecoders activeDecoders,
            PublishedCandidates candidates,
            AdaptationListener listener) {
        return build(
                InForce.of(new Watched(config, sites)),
                activeDecoders,
                Map.of(),
                candidates,
                listener,
                (partition, from) -> new WaitingCommands.Found(List.of(), from),
                new Repeats(),
                NextOffsets.silent(),
                OutputGuard.silent(config.topics()));
    }

    /**
     * @param watched what is configured; topics and whatever else is no setting of a site stay those of the first
     * @param probes run the rest of the model of the sites that name it
     * @param waiting finds the commands that overtake requests
     * @param repeats counts what is read again and again
     * @param offsets skips what was read before
     * @param outputs goes on where a topic does not take what is written
     */
    public static Topology build(
            InForce<Watched> watched,
            ActiveDecoders activeDecoders,
            Map<String, BehaviourProbe> probes,
            PublishedCandidates candidates,
            AdaptationListener listener,
            WaitingCommands waiting,
            Repeats repeats,
            NextOffsets offsets,
            OutputGuard outputs) {
        MonitorConfig config = watched.newest().config();
        TopicNames topics = config.topics();
        Map<String, String> changelog = Topics.changelogSettings();
        ByteArraySerializer out = new ByteArraySerializer();
        Topology topology = new Topology();
        topology.addSource(
                AutoOffsetReset.earliest(),
                "adaptation-requests",
                MonitorTopology.eventTime(),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer(),
                topics.adaptationRequests());
        topology.addProcessor(
                "adapt",
                repeats.counting(offsets.guarding(
                        Input.ADAPTATION_REQUESTS,
                        AdapterTask.supplier(
                                watched.map(all -> new Adapting(
                                        all.sites(),
                                        all.config().adaptations(),
                                        all.config().swapRules())),
                                config.window().sizeMs(),
                                probes,
                                activeDecoders,
                                candidates,
                                listener,
                                waiting,
                                new SignedCommands(config.signing().approverKeys()),
                                changelog),
                        changelog)),
                "adaptation-requests");
        topology.addProcessor(
                "emit",
                DecoderEmitter.supplier(
                        listener,
                        "decoders",
                        "adaptation-reports",
                        changelog,
                        config.signing().signer()),
                "adapt");
        topology.addSink("decoders", topics.decoders(), out, out, new DecoderPartitioner(), "emit");
        topology.addSink("adaptation-reports", topics.adaptationReports(), out, outputs.values(), "emit");
        return topology;
    }
}
