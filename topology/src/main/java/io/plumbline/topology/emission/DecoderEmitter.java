package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;

/**
 * Publishes decoders: chunks, then the manifest, in one {@code process} call and so in one transaction; and a report of
 * every answer. What was published last is kept in a change-logged store: a smaller decoder deletes the chunks it does
 * not need.
 *
 * <p><b>Memory:</b> one chunk at a time beside the decoder, and what the producer buffers ({@code buffer.memory}, 32
 * MiB, once as batches and once as the values they were made of).
 */
public final class DecoderEmitter implements Task<String, AdapterAnswer> {

    /** The name of the store of the newest manifest per site. */
    public static final String VERSIONS_STORE = "decoder-versions";

    private final ProcessorContext<byte[], byte[]> context;
    private final KeyValueStore<String, byte[]> versions;
    private final AdaptationListener listener;
    private final String decoders;
    private final String reports;
    private final @Nullable DecoderSigner signer;

    private DecoderEmitter(
            ProcessorContext<byte[], byte[]> context,
            AdaptationListener listener,
            String decoders,
            String reports,
            @Nullable DecoderSigner signer) {
        this.context = context;
        versions = context.getStateStore(VERSIONS_STORE);
        this.listener = listener;
        this.decoders = decoders;
        this.reports = reports;
        this.signer = signer;
    }

    /**
     * @param decoders name of the sink that takes chunks and manifests
     * @param reports name of the sink that takes adaptation reports
     * @param logConfig topic settings of the change-log
     * @param signer signs manifests and states; null: nothing is signed
     */
    public static ProcessorSupplier<String, AdapterAnswer, byte[], byte[]> supplier(
            AdaptationListener listener,
            String decoders,
            String reports,
            Map<String, String> logConfig,
            @Nullable DecoderSigner signer) {
        StoreBuilder<KeyValueStore<String, byte[]>> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(VERSIONS_STORE), Serdes.String(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig);
        return TaskProcessor.supplier(
                Set.of(store), context -> new DecoderEmitter(context, listener, decoders, reports, signer));
    }

    /**
     * Returns why a decoder cannot be published, or null when it can: to be asked before anything starts.
     *
     * @param dtype of the weights
     */
    public static @Nullable String refusal(int features, int dimension, DType dtype) {
        long bytes = dtype.bytes() * ((long) features * dimension + dimension) + DecoderSubscription.LARGEST_HEADER;
        return bytes <= DecoderManifest.LARGEST_ARTEFACT
                ? null
                : ("a decoder of %d features x %d takes %d bytes as %s, at most %d travel; "
                                + "write a narrower adaptation.dtype or adaptation.mode: observe")
                        .formatted(features, dimension, bytes, dtype, DecoderManifest.LARGEST_ARTEFACT);
    }

    @Override
    public void process(Record<String, AdapterAnswer> record) {
        String site = record.key();
        AdapterAnswer answer = record.value();
        AdaptationReport report = answer.report();
        Publication publication = answer.publication();
        if (publication != null) {
            boolean waits = publication.kind() == DecoderKind.CANDIDATE;
            long begin = System.nanoTime();
            publish(waits ? DecoderKey.candidatesOf(site) : site, publication, record);
            listener.onEmitted(System.nanoTime() - begin);
        }
        SwapState state = answer.state();
        if (state != null) {
            signed(DecoderKey.ofSwaps(site), state.encode(), record);
        }
        Record<byte[], byte[]> told =
                new Record<>(site.getBytes(StandardCharsets.UTF_8), Json.bytes(report), record.timestamp());
        String command = answer.command();
        if (command != null) {
            told.headers().add(AdapterAnswer.COMMAND_HEADER, command.getBytes(StandardCharsets.UTF_8));
        }
        context.forward(told, reports);
        context.commit();
        listener.onAdaptation(report);
    }

    /** @param name the site, or that of its candidates */
    private void publish(String name, Publication publication, Record<String, AdapterAnswer> record) {
        DecoderManifest current = current(name);
        long version = publication.version();
        Map<String, String> metadata = new TreeMap<>(publication.lineage());
        metadata.put("site", record.key());
        metadata.put("version", Long.toString(version));
        metadata.put("kind", publication.kind().label());
        metadata.put("parent_sha256", publication.parentSha256());
        DecoderArtefact artefact = DecoderArtefact.of(publication.decoder(), publication.dtype(), metadata);
        // The manifest comes last: its hash, which one core takes as long for as sending does, is made meanwhile.
        ForkJoinTask<DecoderManifest> hashed = ForkJoinPool.commonPool()
                .submit(() ->
                        artefact.manifest(name, version, publication.kind(), publication.parentSha256(), metadata));
        int chunks =
                artefact.cut(version, (index, chunk) -> forward(new DecoderKey(name, index).encode(), chunk, record));
        for (int surplus = chunks; current != null && surplus < current.chunks(); surplus++) {
            forward(new DecoderKey(name, surplus).encode(), null, record);
        }
        DecoderManifest manifest = hashed.join();
        if (isReadAsItIs(publication)) {
            HeldDecoders.OF_THIS_PROCESS.hold(manifest.sha256(), publication.decoder());
        }
        signed(new DecoderKey(name, DecoderKey.MANIFEST).encode(), manifest.encode(), record);
        versions.put(name, manifest.encode());
    }

    /**
     * Returns whether a reader finds these numbers and has nothing against them: what is rounded as it travels, or is
     * not finite, it takes from the topic.
     */
    private static boolean isReadAsItIs(Publication publication) {
        Decoder decoder = publication.decoder();
        return publication.dtype() == DType.F32
                && decoder.weights().areFloats()
                && decoder.weights().firstNotFinite() < 0
                && Arrays.stream(decoder.bias()).allMatch(value -> Double.isFinite(value) && (float) value == value);
    }

    private @Nullable DecoderManifest current(String name) {
        byte[] stored = versions.get(name);
        return stored == null ? null : DecoderManifest.decode(stored);
    }

    private void forward(byte[] key, byte @Nullable [] value, Record<String, AdapterAnswer> record) {
        context.forward(new Record<>(key, value, record.timestamp()), decoders);
    }

    /** Forwards what readers act on; the manifest's SHA-256 signs the chunks before it. */
    private void signed(byte[] key, byte[] value, Record<String, AdapterAnswer> record) {
        Record<byte[], byte[]> said = new Record<>(key, value, record.timestamp());
        if (signer != null) {
            said.headers().add(RecordSignature.HEADER, signer.sign(key, value));
        }
        context.forward(said, decoders);
    }
}
