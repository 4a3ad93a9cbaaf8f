package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedForward;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DecoderEmitterTest {

    private static final String SITE = "layer.2";
    private static final Decoder TRAINED = decoder(1);

    /** The number of features: in float64 two chunks, in float32 one. */
    private static final int FEATURES = 4_000;

    private static final int WIDTH = 24;

    private final List<AdaptationReport> heard = new ArrayList<>();
    private final MockProcessorContext<byte[], byte[]> context = new MockProcessorContext<>();
    private Processor<String, AdapterAnswer, byte[], byte[]> emitter;
    private long version;

    @BeforeEach
    void start() {
        ProcessorSupplier<String, AdapterAnswer, byte[], byte[]> supplier =
                DecoderEmitter.supplier(heard::add, "decoders", "reports", Map.of(), null);
        for (StoreBuilder<?> builder : supplier.stores()) {
            StateStore store = builder.withLoggingDisabled().build();
            store.init(context.getStateStoreContext(), store);
            context.addStateStore(store);
        }
        emitter = supplier.get();
        emitter.init(context);
    }

    @Test
    void aDecoderThatShrinksDeletesItsSurplusChunksBeforeTheManifest() {
        publish(decoder(2), DType.F64);
        assertEquals(List.of(SITE + "#0", SITE + "#1", SITE), keys());
        context.resetForwards();
        publish(decoder(3), DType.F32);
        assertEquals(List.of(SITE + "#0", SITE + "#1", SITE), keys());
        assertNull(context.forwarded("decoders").get(1).record().value(), "a tombstone");
        context.resetForwards();
        publish(decoder(4), DType.F32);
        assertEquals(List.of(SITE + "#0", SITE), keys(), "deleted once");
    }

    @Test
    void aReportWithItsVersionFollowsEveryDecoderAndTheTaskCommits() {
        publish(decoder(2), DType.F32);
        publish(decoder(3), DType.F32);
        assertEquals(
                List.of(1L, 2L), heard.stream().map(AdaptationReport::version).toList());
        assertEquals(2, context.forwarded("reports").size());
        assertTrue(context.committed());
    }

    @Test
    void readersOfThisProcessShareADecoderThatTravelsAsItIs() {
        Decoder decoder = decoder(5);
        publish(decoder, DType.F32);
        assertSame(decoder, HeldDecoders.OF_THIS_PROCESS.of(manifest().sha256(), () -> fail("read again")));
    }

    @Test
    void readersOfThisProcessReadADecoderThatIsRoundedOrNotFinite() {
        Decoder read = decoder(6);
        Matrix between = ActivationRecords.integerRows(7, FEATURES, WIDTH);
        between.set(FEATURES - 1, 3, 0.1);
        Matrix notFinite = ActivationRecords.integerRows(8, FEATURES, WIDTH);
        notFinite.set(FEATURES - 1, 3, Double.NaN);
        double[] bias = new double[WIDTH];
        bias[2] = 0.1;
        for (Decoder published : List.of(
                new Decoder(between, new double[WIDTH]),
                new Decoder(notFinite, new double[WIDTH]),
                new Decoder(ActivationRecords.integerRows(9, FEATURES, WIDTH), bias))) {
            context.resetForwards();
            publish(published, DType.F32);
            assertSame(read, HeldDecoders.OF_THIS_PROCESS.of(manifest().sha256(), () -> read));
        }
    }

    private DecoderManifest manifest() {
        List<? extends CapturedForward<?, ?>> forwarded = context.forwarded("decoders");
        return DecoderManifest.decode(
                (byte[]) forwarded.get(forwarded.size() - 1).record().value());
    }

    @Test
    void whatIsKeptIsReportedOnly() {
        emit(new AdapterAnswer(report(Outcome.KEPT), null, null, null));
        assertEquals(List.of(), keys());
        assertEquals(1, heard.size());
    }

    @Test
    void chunksAndManifestOfASiteShareAPartition() {
        DecoderPartitioner partitioner = new DecoderPartitioner();
        for (String site : List.of("a", "layer.2", "with#mark")) {
            var manifest = partitioner.partitions("decoders", new DecoderKey(site, 0).encode(), null, 7);
            for (int index = 1; index < 50; index++) {
                assertEquals(
                        manifest,
                        partitioner.partitions("decoders", new DecoderKey(site, index).encode(), null, 7),
                        site);
            }
        }
        assertEquals(
                partitioner.partitions("decoders", "layer.2".getBytes(StandardCharsets.UTF_8), null, 7),
                partitioner.partitions("decoders", new DecoderKey("layer.2", 12).encode(), null, 7));
    }

    private void publish(Decoder decoder, DType dtype) {
        version++;
        emit(new AdapterAnswer(
                report(Outcome.PUBLISHED).published(version),
                new AdapterAnswer.Publication(
                        version, DecoderKind.ADAPTED, decoder, dtype, Map.of("rank", "2"), TRAINED.sha256()),
                null,
                null));
    }

    private void emit(AdapterAnswer answer) {
        emitter.process(new Record<>(SITE, answer, 0));
    }

    private List<String> keys() {
        return context.forwarded("decoders").stream()
                .map(CapturedForward::record)
                .map(record -> new String(record.key(), StandardCharsets.UTF_8))
                .toList();
    }

    private static AdaptationReport report(Outcome outcome) {
        return new AdaptationReport(
                SITE, 0, 10, outcome, "why", 0, 5, 1, 5, 3, 2, null, null, null, null, null, List.of(), null, 0.1);
    }

    private static Decoder decoder(long seed) {
        Matrix weights = ActivationRecords.integerRows(seed, FEATURES, WIDTH);
        return new Decoder(weights, new double[WIDTH]);
    }
}
