package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
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
        DecoderArtefact artefact = DecoderArtefact.of(decoder, dtype, lineage);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        int chunks = artefact.cut(
                version,
                (index, chunk) ->
                        records.add(new ProducerRecord<>(topic, 0, new DecoderKey(site, index).encode(), chunk)));
        DecoderManifest manifest = new DecoderManifest(
                DecoderManifest.SCHEMA,
                site,
                version,
                "adapted",
                parentSha256,
                artefact.sha256(),
                artefact.bytes(),
                chunks,
                lineage);
        records.add(
                new ProducerRecord<>(topic, 0, new DecoderKey(site, DecoderKey.MANIFEST).encode(), manifest.encode()));
        return records;
    }
}
