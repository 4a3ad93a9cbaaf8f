package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedForward;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;

/** Asks the emitter itself for the records of one version after the other; to be sent in a transaction each. */
final class EmittedRecords {

    private final MockProcessorContext<byte[], byte[]> context = new MockProcessorContext<>();
    private final Processor<String, AdapterAnswer, byte[], byte[]> emitter;
    private final Map<String, Long> versions = new HashMap<>();

    EmittedRecords() {
        this(null);
    }

    /** @param signer what signs them; null: nothing */
    EmittedRecords(DecoderSigner signer) {
        ProcessorSupplier<String, AdapterAnswer, byte[], byte[]> supplier =
                DecoderEmitter.supplier(report -> {}, "decoders", "reports", Map.of(), signer);
        for (StoreBuilder<?> builder : supplier.stores()) {
            StateStore store = builder.withLoggingDisabled().build();
            store.init(context.getStateStoreContext(), store);
            context.addStateStore(store);
        }
        emitter = supplier.get();
        emitter.init(context);
    }

    /** Returns chunks, tombstones over surplus ones, and the manifest. */
    List<ProducerRecord<byte[], byte[]>> next(String topic, String site, Decoder decoder, String parentSha256) {
        AdaptationReport report = new AdaptationReport(
                site,
                0,
                1,
                Outcome.PUBLISHED,
                "",
                0,
                1,
                1,
                1,
                1,
                1,
                null,
                null,
                null,
                null,
                null,
                List.of(),
                null,
                0.0);
        AdapterAnswer.Publication publication = new AdapterAnswer.Publication(
                versions.merge(site, 1L, Long::sum), DecoderKind.ADAPTED, decoder, DType.F32, Map.of(), parentSha256);
        emitter.process(new Record<>(site, new AdapterAnswer(report, publication, null, null), 0));
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (CapturedForward<? extends byte[], ? extends byte[]> forward : context.forwarded("decoders")) {
            records.add(new ProducerRecord<>(
                    topic,
                    0,
                    null,
                    forward.record().key(),
                    forward.record().value(),
                    forward.record().headers()));
        }
        context.resetForwards();
        return records;
    }
}
