package io.plumbline.topology.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WatchedSite;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the parts of a request and answers it. Heavy: it runs in an application of its own, so that a refit of
 * seconds stalls no window.
 */
public final class AdapterProcessor implements Processor<byte @Nullable [], byte @Nullable [], String, AdapterAnswer> {

    /** Name of the store of sample parts that wait for their request. */
    public static final String PARTS_STORE = "request-parts";

    /** Name of the store of what the adapter has committed itself to, by site. */
    public static final String SWAPS_STORE = "swaps";

    private static final Logger LOG = LoggerFactory.getLogger(AdapterProcessor.class);
    private static final int LARGEST_SAMPLE = 1_000_000;

    private final Map<String, Refit> refits;
    private final Map<String, WatchedSite> sites;
    private final InService inService;
    private final AdaptationListener listener;
    private final Attempts attempts;
    private @Nullable ProcessorContext<String, AdapterAnswer> context;
    private @Nullable KeyValueStore<String, byte[]> parts;
    private @Nullable KeyValueStore<String, byte[]> swaps;

    private AdapterProcessor(
            Map<String, Refit> refits,
            Map<String, WatchedSite> sites,
            ActiveDecoders activeDecoders,
            AdaptationListener listener,
            Attempts attempts) {
        this.attempts = attempts;
        this.listener = listener;
        this.refits = refits;
        this.sites = sites;
        this.inService = new InService(activeDecoders);
    }

    /**
     * @param settings by site; sites without are only watched
     * @param activeDecoders what is on the topic, as readers see it
     * @param logConfig topic settings of the change-logs
     */
    public static ProcessorSupplier<byte[], byte[], String, AdapterAnswer> supplier(
            Map<String, WatchedSite> sites,
            Map<String, AdaptationSettings> settings,
            ActiveDecoders activeDecoders,
            AdaptationListener listener,
            Map<String, String> logConfig) {
        Map<String, Refit> refits = new HashMap<>();
        settings.forEach((site, one) -> {
            WatchedSite watched = Objects.requireNonNull(sites.get(site), site);
            refits.put(
                    site,
                    new Refit(site, watched.explainer(), watched.settings().rank(), one));
        });
        Attempts attempts = new Attempts();
        Set<StoreBuilder<?>> stores = Set.of(store(PARTS_STORE, logConfig), store(SWAPS_STORE, logConfig));
        return new ProcessorSupplier<>() {
            @Override
            public Processor<byte[], byte[], String, AdapterAnswer> get() {
                return new AdapterProcessor(refits, sites, activeDecoders, listener, attempts);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return stores;
            }
        };
    }

    private static StoreBuilder<?> store(String name, Map<String, String> logConfig) {
        return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig);
    }

    @Override
    public void init(ProcessorContext<String, AdapterAnswer> processorContext) {
        context = processorContext;
        parts = processorContext.getStateStore(PARTS_STORE);
        swaps = processorContext.getStateStore(SWAPS_STORE);
        inService.forget();
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        byte[] key = record.key();
        byte[] value = record.value();
        if (key == null || value == null) {
            skip("", "it has no " + (key == null ? "key" : "value"));
            return;
        }
        String site = new String(key, StandardCharsets.UTF_8);
        Refit refit = refits.get(site);
        if (refit == null) {
            LOG.warn("site {} asks for an adaptation, but adapts nothing here by configuration; skipped", site);
            return;
        }
        AdaptationMessage message;
        try {
            message = AdaptationMessage.decode(value);
        } catch (IllegalArgumentException e) {
            // Stopping would not help: the record would be read again for ever.
            skip(site, String.valueOf(e.getMessage()));
            return;
        }
        if (message instanceof AdaptationMessage.SamplePart part) {
            parts().put(key(site, part.index()), value);
        } else if (message instanceof AdaptationMessage.Adapt adapt) {
            Active active = inService(site);
            answer(site, adapt(site, refit, adapt, active), active, record.timestamp());
        } else if (message instanceof AdaptationMessage.Revert revert) {
            answer(site, refit.revert(revert), inService(site), record.timestamp());
        }
    }

    private void skip(String site, String reason) {
        RecordMetadata place = place();
        LOG.warn(
                "site \"{}\": the record at {}-{}, offset {} is no adaptation message and was skipped: {}",
                site,
                place.topic(),
                place.partition(),
                place.offset(),
                reason);
        listener.onForeign();
    }

    private RecordMetadata place() {
        return Objects.requireNonNull(context, "init was called")
                .recordMetadata()
                .orElseThrow();
    }

    private AdaptationOutcome adapt(
            String site, Refit refit, AdaptationMessage.Adapt request, @Nullable Active active) {
        if (attempts.begin(place()) > Attempts.MOST) {
            AdaptationReport given = refit.failed(
                    request,
                    "begun %d times and interrupted each time; given up so that the next request is answered. A refit must be shorter than max.poll.interval.ms and than transaction.timeout.ms of the adapter: raise both, or lower sample.rows"
                            .formatted(Attempts.MOST),
                    System.nanoTime());
            LOG.warn("site {}, window up to {} ms: {}", site, request.windowEndMs(), given.reason());
            return new AdaptationOutcome.Keep(given);
        }
        RowSample sample = RowSample.ofCapacity(Math.min(Math.max(1, request.sampleCapacity()), LARGEST_SAMPLE));
        for (int index = 0; index < request.parts(); index++) {
            byte[] stored = parts().delete(key(site, index));
            if (stored == null
                    || !(AdaptationMessage.decode(stored) instanceof AdaptationMessage.SamplePart part)
                    || part.windowEndMs() != request.windowEndMs()) {
                return new AdaptationOutcome.Keep(refit.failed(
                        request,
                        "part %d of the %d parts of its sample did not arrive".formatted(index, request.parts()),
                        System.nanoTime()));
            }
            try {
                sample.mergeEncoded(part.part());
            } catch (IllegalArgumentException e) {
                return new AdaptationOutcome.Keep(refit.failed(
                        request,
                        "part %d of its sample cannot be read: %s".formatted(index, e.getMessage()),
                        System.nanoTime()));
            }
        }
        return refit.adapt(request, sample, active == null ? trained(site) : active.decoder());
    }

    private @Nullable Active inService(String site) {
        return inService.of(site, state(site).version());
    }

    private Decoder trained(String site) {
        return Objects.requireNonNull(sites.get(site), site).explainer().decoder();
    }

    private void answer(String site, AdaptationOutcome outcome, @Nullable Active active, long timestampMs) {
        SwapState state = state(site);
        // Our own count, unless the application was reset or got another name: readers refuse one that starts anew.
        long newest = Math.max(state.version(), InService.versionOf(active));
        AdaptationReport report = outcome.report();
        if (outcome instanceof AdaptationOutcome.Publish publish) {
            Publication publication = new Publication(
                    newest + 1,
                    AdapterAnswer.ADAPTED,
                    publish.decoder(),
                    publish.dtype(),
                    publish.lineage(),
                    publish.parentSha256());
            publish(site, state, report, publication, timestampMs);
        } else if (outcome instanceof AdaptationOutcome.Revert revert) {
            if (!isAdapted(site, state, active)) {
                return; // the refit it would undo was refused: the trained decoder is in service
            }
            Map<String, String> lineage = Map.of(
                    "reverts_version", Long.toString(newest), "window_end_ms", Long.toString(report.windowEndMs()));
            Publication publication = new Publication(
                    newest + 1,
                    AdapterAnswer.TRAINED,
                    revert.trained(),
                    revert.dtype(),
                    lineage,
                    revert.parentSha256());
            publish(site, state, report, publication, timestampMs);
        } else {
            forward(site, new AdapterAnswer(report, null), timestampMs);
        }
    }

    private boolean isAdapted(String site, SwapState state, @Nullable Active active) {
        if (active != null && active.version() > state.version()) {
            return !active.decoder().sha256().equals(trained(site).sha256());
        }
        return state.adapted();
    }

    private void publish(
            String site, SwapState state, AdaptationReport report, Publication publication, long timestampMs) {
        long version = publication.version();
        swaps().put(
                        site,
                        state.published(version, publication.kind().equals(AdapterAnswer.ADAPTED))
                                .encode());
        forward(site, new AdapterAnswer(report.published(version), publication), timestampMs);
        inService.forwarded(site, new Active(publication.decoder(), version));
    }

    private void forward(String site, AdapterAnswer answer, long timestampMs) {
        Objects.requireNonNull(context, "init was called").forward(new Record<>(site, answer, timestampMs));
    }

    private SwapState state(String site) {
        byte[] stored = swaps().get(site);
        return stored == null ? SwapState.INITIAL : SwapState.decode(stored);
    }

    private KeyValueStore<String, byte[]> swaps() {
        return Objects.requireNonNull(swaps, "init was called");
    }

    private static String key(String site, int index) {
        return site + "#" + index;
    }

    private KeyValueStore<String, byte[]> parts() {
        return Objects.requireNonNull(parts, "init was called");
    }
}
