package io.plumbline.topology.runtime;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.Subspace;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.metrics.Listeners;
import io.plumbline.wire.Printable;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the decoders in service from the decoders topic by a subscriber of our own: what the monitor shows is what
 * any other reader gets. Candidates are read when they are asked for.
 */
final class PublishedDecoders implements ActiveDecoders, PublishedCandidates, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PublishedDecoders.class);
    private static final Duration CANDIDATE_WAIT = Duration.ofMinutes(2);
    private static final Duration VERSION_WAIT = Duration.ofSeconds(20);

    private final DecodersInService active = new DecodersInService();
    private final Map<String, SwapState> told = new ConcurrentHashMap<>();
    private final Map<String, Decoder> trained = new HashMap<>();
    private final Map<String, Decoder> ofCandidates = new HashMap<>();
    private final Map<String, WatchedSite> sites;

    /** The blocks of each site, whose decoders are published as one. */
    private final Map<String, WatchedTargets> targets;

    /** The newest of each site whose directions are not known yet. */
    private final Map<String, PublishedDecoder> unmeasured = new ConcurrentHashMap<>();

    /**
     * Computes directions, which takes a second for a wide decoder and ten for the widest: no window and no newer
     * decoder waits for it.
     */
    private final ExecutorService measuring = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "decoder-subspaces");
        thread.setDaemon(true);
        return thread;
    });

    private final Properties kafka;
    private final String topic;

    /** The keys that must have signed what is taken; null: any may have, or none. */
    private final @Nullable TrustedKeys keys;

    private final CountDownLatch caughtUp = new CountDownLatch(1);
    private final DecoderSubscriber subscriber;

    /**
     * Follows the topic from its beginning.
     *
     * @param listener hears what the subscriber does; of a new decoder when it is in service
     */
    public static PublishedDecoders follow(
            MonitorConfig config, Map<String, WatchedSite> sites, DecoderListener listener) {
        Properties kafka = new Properties();
        kafka.putAll(config.subscriberProperties());
        return new PublishedDecoders(
                kafka, config.topics().decoders(), config.signing().keys(), sites, listener);
    }

    private PublishedDecoders(
            Properties kafka,
            String topic,
            @Nullable TrustedKeys keys,
            Map<String, WatchedSite> sites,
            DecoderListener listener) {
        this.sites = sites;
        this.kafka = kafka;
        this.topic = topic;
        this.keys = keys;
        targets = WatchedTargets.of(sites);
        targets.forEach((site, blocks) -> trained.put(site, blocks.trained()));
        sites.forEach((site, watched) -> {
            WatchedSite candidate = watched.candidate();
            if (candidate != null) {
                ofCandidates.put(site, candidate.explainer().decoder());
            }
        });
        subscriber = DecoderSubscriber.start(
                kafka,
                topic,
                signed(held(DecoderSubscription.of(trained), ofCandidates)),
                Listeners.both(DecoderListener.class, new Follower(), listener));
    }

    private static DecoderSubscription held(DecoderSubscription subscription, Map<String, Decoder> others) {
        DecoderSubscription all = subscription;
        for (Map.Entry<String, Decoder> other : others.entrySet()) {
            all = all.or(other.getKey(), other.getValue());
        }
        return all;
    }

    private DecoderSubscription signed(DecoderSubscription subscription) {
        return keys == null ? subscription : subscription.signedBy(keys);
    }

    /** Takes what the subscriber finds into service. */
    private final class Follower implements DecoderListener {

        @Override
        public void onDecoder(PublishedDecoder published) {
            WatchedTargets site = Objects.requireNonNull(targets.get(published.site()), published.site());
            Map<String, Active> together = new HashMap<>();
            String parent = published.manifest().parentSha256();
            together.put(published.site(), new Active(published.decoder(), published.version(), null, parent));
            List<Decoder> decoders = site.blocks().size() == 1
                    ? List.of(published.decoder())
                    : site.joint().split(published.decoder());
            for (int i = 0; i < decoders.size(); i++) {
                String block = site.blocks().get(i).site();
                unmeasured.put(
                        block,
                        new PublishedDecoder(
                                published.manifest(), decoders.get(i), published.dtype(), published.signature()));
                together.put(block, new Active(decoders.get(i), published.version(), null, parent));
            }
            active.take(together);
            if (caughtUp.getCount() == 0) {
                site.blocks().forEach(block -> measure(block.site()));
            }
        }

        @Override
        public void onSwapState(String site, SwapState state) {
            told.put(site, state);
        }

        @Override
        public void onCaughtUp() {
            caughtUp.countDown();
            active.sites().forEach(PublishedDecoders.this::measure); // not each of the versions before
        }
    }

    private void measure(String site) {
        WatchedSite watched = sites.get(site);
        if (watched != null) {
            measuring.execute(() -> measure(site, watched.settings().explained().rank()));
        }
    }

    private void measure(String site, int rank) {
        PublishedDecoder one = unmeasured.remove(site);
        if (one == null) {
            return;
        }
        try {
            Subspace subspace = DictionarySpace.of(one.decoder(), rank);
            if (subspace == null) {
                LOG.warn(
                        "a version does not determine its leading directions, so its own gap stays undefined: "
                                + "site={} version={} rank={}",
                        Printable.value(site),
                        one.version(),
                        rank);
                return;
            }
            active.measured(site, one.version(), subspace);
        } catch (IllegalArgumentException | ArithmeticException e) {
            LOG.warn(
                    "a version has no subspace of the site's rank, so its own gap stays undefined: "
                            + "site={} version={} rank={} reason={}",
                    Printable.value(site),
                    one.version(),
                    rank,
                    Printable.value(e.getMessage()));
        }
    }

    /** Waits until what was on the topic at start has been read; returns whether it was in time. */
    public boolean awaitCaughtUp(long seconds) throws InterruptedException {
        return caughtUp.await(seconds, TimeUnit.SECONDS);
    }

    @Override
    public @Nullable Active of(String site) {
        return active.of(site);
    }

    /** Waits no longer than a reader of the topic may be behind. */
    @Override
    public @Nullable Active awaitVersion(String site, long version) {
        try {
            return active.await(site, version, VERSION_WAIT.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return active.of(site);
        }
    }

    @Override
    public @Nullable SwapState lastTold(String site) {
        return told.get(site);
    }

    /**
     * Reads a candidate, which nobody holds until it is asked for: by a subscription of its own, from the beginning of
     * the topic.
     */
    @Override
    public Candidate read(String site, long number) {
        Decoder parent = trained.get(site);
        if (parent == null) {
            throw new IllegalStateException("site %s is not configured here".formatted(site));
        }
        Decoder other = ofCandidates.get(site);
        DecoderSubscription candidates = DecoderSubscription.ofCandidates(site, parent);
        AtomicReference<@Nullable PublishedDecoder> found = new AtomicReference<>();
        AtomicReference<@Nullable String> refused = new AtomicReference<>();
        CountDownLatch read = new CountDownLatch(1);
        DecoderListener listener = new DecoderListener() {
            @Override
            public void onDecoder(PublishedDecoder published) {
                found.set(published);
            }

            @Override
            public void onRefused(String name, long version, String reason) {
                refused.set(reason);
            }

            @Override
            public void onCaughtUp() {
                read.countDown();
            }
        };
        boolean inTime;
        DecoderSubscriber once = DecoderSubscriber.start(
                kafka, topic, signed(other == null ? candidates : candidates.orCandidates(site, other)), listener);
        try {
            inTime = read.await(CANDIDATE_WAIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while it was read from the topic; ask again", e);
        } finally {
            once.close();
        }
        PublishedDecoder newest = found.get();
        if (newest == null || newest.version() != number) {
            String why = refused.get();
            throw new IllegalStateException(
                    !inTime
                            ? "the topic \"%s\" could not be read to its end within %d s; ask again"
                                    .formatted(topic, CANDIDATE_WAIT.toSeconds())
                            : why == null
                                    ? "it is not on the topic \"%s\" yet, or no longer; ask again".formatted(topic)
                                    : "it cannot be trusted: " + why);
        }
        return newest.asCandidate();
    }

    @Override
    public void close() {
        subscriber.close();
        measuring.shutdownNow();
    }
}
