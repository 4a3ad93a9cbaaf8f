package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/** The safetensors blob of a decoder that travels. */
final class DecoderArtefact {

    private DecoderArtefact() {}

    static byte[] encode(Decoder decoder, DType dtype, Map<String, String> lineage) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        lineage.forEach(writer::metadata);
        writer.add("W_dec", dtype, decoder.weights());
        writer.addVector("b_dec", dtype, decoder.bias());
        return writer.toBytes();
    }

    /** Throws {@link IllegalArgumentException} when the blob is not a decoder. */
    static PublishedDecoder decode(DecoderManifest manifest, byte[] artefact) {
        Safetensors blob = Safetensors.parse(artefact);
        Tensor weights = blob.tensor("W_dec");
        Decoder decoder = new Decoder(weights.toMatrix(), blob.tensor("b_dec").toDoubles());
        return new PublishedDecoder(manifest, decoder, weights.dtype());
    }

    static String sha256(byte[] artefact) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(artefact));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
