package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.explainer.Decoder;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.wire.DType;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Measures what is allocated for a decoder of 5 MB in float32, ten chunks, on either side, counted by the JVM. */
class EmissionMemoryTest {

    private static final Decoder DECODER = new Decoder(ActivationRecords.integerRows(1, 20_000, 64), new double[64]);
    private static final long FEW = 2L * DecoderChunk.PAYLOAD_BYTES;

    @TempDir
    private Path folder;

    @Test
    void emissionAllocatesTheChunksAndNextToNothingElse() {
        emit();
        long begin = allocated();
        long chunks = emit();
        long allocated = allocated() - begin;
        assertTrue(chunks > 5_000_000, "chunks of " + chunks + " bytes");
        // The chunks are the records' own values, one alive at a time unless the taker keeps it.
        assertTrue(allocated < chunks + FEW, "%d bytes for chunks of %d".formatted(allocated, chunks));
    }

    @Test
    void aReaderAllocatesTheDecoderAndNextToNothingElse() {
        List<ProducerRecord<byte[], byte[]>> records = DecoderRecords.of("decoders", "a", 1, "p", DECODER);
        read(records);
        long begin = allocated();
        Decoder read = read(records);
        long allocated = allocated() - begin;
        long weights = 4L * DECODER.features() * DECODER.dimension();
        assertEquals(DECODER, read);
        assertTrue(allocated < weights + FEW, "%d bytes for weights of %d".formatted(allocated, weights));
    }

    private static long emit() {
        DecoderArtefact artefact = DecoderArtefact.of(DECODER, DType.F32, Map.of("rank", "2"));
        long[] bytes = {artefact.sha256().length()};
        artefact.cut(1, (index, value) -> bytes[0] += value.length);
        return bytes[0];
    }

    private Decoder read(List<ProducerRecord<byte[], byte[]>> records) {
        try (DecoderAssembler assembler =
                new DecoderAssembler(DecoderSubscription.everything().spooledIn(folder), new HeldDecoders())) {
            for (ProducerRecord<byte[], byte[]> record : records) {
                if (assembler.accept(record.key(), record.value(), null)
                        instanceof DecoderAssembler.Step.Complete complete) {
                    return complete.decoder().decoder();
                }
            }
        }
        throw new AssertionError("no decoder");
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
