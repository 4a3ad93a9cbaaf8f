package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The records of a published decoder, for tests. */
public final class DecoderRecords {

    private DecoderRecords() {}

    /** Chunks, then the manifest, in float32. */
    public static List<ProducerRecord<byte[], byte[]>> of(
            String topic, String site, long version, String parentSha256, Decoder decoder) {
        return of(topic, site, version, parentSha256, decoder, DType.F32);
    }

    /** Chunks, then the manifest. */
    public static List<ProducerRecord<byte[], byte[]>> of(
            String topic, String site, long version, String parentSha256, Decoder decoder, DType dtype) {
        Map<String, String> lineage = Map.of("rank", "2");
        byte[] artefact = DecoderArtefact.encode(decoder, dtype, lineage);
        int chunks = DecoderChunk.chunksOf(artefact.length);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < chunks; i++) {
            records.add(new ProducerRecord<>(
                    topic,
                    0,
                    DecoderChunk.key(site, i),
                    DecoderChunk.cut(artefact, version, i).encode()));
        }
        DecoderManifest manifest = new DecoderManifest(
                DecoderManifest.SCHEMA,
                site,
                version,
                "adapted",
                parentSha256,
                DecoderArtefact.sha256(artefact),
                artefact.length,
                chunks,
                lineage);
        records.add(new ProducerRecord<>(topic, 0, site.getBytes(StandardCharsets.UTF_8), manifest.encode()));
        return records;
    }
}
