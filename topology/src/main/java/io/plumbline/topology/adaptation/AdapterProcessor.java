package io.plumbline.topology.adaptation;

import io.plumbline.moments.RowSample;
import io.plumbline.topology.assessment.ActiveDecoders;
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
public final class AdapterProcessor
        implements Processor<byte @Nullable [], byte @Nullable [], String, AdaptationOutcome> {

    /** Name of the store of sample parts that wait for their request. */
    public static final String PARTS_STORE = "request-parts";

    private static final Logger LOG = LoggerFactory.getLogger(AdapterProcessor.class);
    private static final int LARGEST_SAMPLE = 1_000_000;

    private final Map<String, Refit> refits;
    private final Map<String, WatchedSite> sites;
    private final ActiveDecoders activeDecoders;
    private final AdaptationListener listener;
    private final Attempts attempts;
    private @Nullable ProcessorContext<String, AdaptationOutcome> context;
    private @Nullable KeyValueStore<String, byte[]> parts;

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
        this.activeDecoders = activeDecoders;
    }

    /**
     * @param settings by site; sites without are only watched
     * @param logConfig topic settings of the change-log
     */
    public static ProcessorSupplier<byte[], byte[], String, AdaptationOutcome> supplier(
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
        StoreBuilder<KeyValueStore<String, byte[]>> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(PARTS_STORE), Serdes.String(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig);
        return new ProcessorSupplier<>() {
            @Override
            public Processor<byte[], byte[], String, AdaptationOutcome> get() {
                return new AdapterProcessor(refits, sites, activeDecoders, listener, attempts);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(store);
            }
        };
    }

    @Override
    public void init(ProcessorContext<String, AdaptationOutcome> processorContext) {
        context = processorContext;
        parts = processorContext.getStateStore(PARTS_STORE);
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
            answer(site, adapt(site, refit, adapt), record.timestamp());
        } else if (message instanceof AdaptationMessage.Revert revert) {
            answer(site, refit.revert(revert), record.timestamp());
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

    private AdaptationOutcome adapt(String site, Refit refit, AdaptationMessage.Adapt request) {
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
        ActiveDecoders.Active active = activeDecoders.of(site);
        WatchedSite watched = Objects.requireNonNull(sites.get(site), site);
        return refit.adapt(request, sample, active == null ? watched.explainer().decoder() : active.decoder());
    }

    private void answer(String site, AdaptationOutcome outcome, long timestampMs) {
        Objects.requireNonNull(context, "init was called").forward(new Record<>(site, outcome, timestampMs));
    }

    private static String key(String site, int index) {
        return site + "#" + index;
    }

    private KeyValueStore<String, byte[]> parts() {
        return Objects.requireNonNull(parts, "init was called");
    }
}
