package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Makes the records of a published decoder, for tests. */
public final class DecoderRecords {

    private static final Map<String, String> LINEAGE = Map.of("rank", "2");

    private DecoderRecords() {}

    /** Returns chunks, then the manifest, in float32. */
    public static List<ProducerRecord<byte[], byte[]>> of(
            String topic, String site, long version, String parentSha256, Decoder decoder) {
        return of(topic, site, version, parentSha256, decoder, DType.F32);
    }

    /** Returns the record of a state of a site. */
    public static List<ProducerRecord<byte[], byte[]>> swapState(String topic, String site, String json) {
        return List.of(new ProducerRecord<>(topic, 0, DecoderKey.ofSwaps(site), json.getBytes(StandardCharsets.UTF_8)));
    }

    /** Returns chunks, then the manifest. */
    public static List<ProducerRecord<byte[], byte[]>> of(
            String topic, String site, long version, String parentSha256, Decoder decoder, DType dtype) {
        return of(topic, site, version, parentSha256, decoder, dtype, LINEAGE);
    }

    /** Returns chunks, then the manifest with this lineage. */
    public static List<ProducerRecord<byte[], byte[]>> of(
            String topic,
            String site,
            long version,
            String parentSha256,
            Decoder decoder,
            DType dtype,
            Map<String, String> lineage) {
        DecoderArtefact artefact = DecoderArtefact.of(decoder, dtype, lineage);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        artefact.cut(
                version,
                (index, chunk) ->
                        records.add(new ProducerRecord<>(topic, 0, new DecoderKey(site, index).encode(), chunk)));
        DecoderManifest manifest = artefact.manifest(site, version, DecoderKind.ADAPTED, parentSha256, lineage);
        records.add(
                new ProducerRecord<>(topic, 0, new DecoderKey(site, DecoderKey.MANIFEST).encode(), manifest.encode()));
        return records;
    }
}
