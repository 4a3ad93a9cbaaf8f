package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.wire.ByteSink;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;

/**
 * The safetensors blob of a decoder that travels, never in memory as a whole: one pass over the weights hashes it,
 * another cuts it into chunks. Both may run at once.
 *
 * <p><b>Memory:</b> one chunk and 64 KiB beside the decoder, which is held and not copied.
 */
final class DecoderArtefact {

    static final String WEIGHTS = "W_dec";
    static final String BIAS = "b_dec";

    private final SafetensorsWriter writer;
    private final long bytes;

    private DecoderArtefact(SafetensorsWriter writer) {
        this.writer = writer;
        this.bytes = writer.bytes();
    }

    static DecoderArtefact of(Decoder decoder, DType dtype, Map<String, String> lineage) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        lineage.forEach(writer::metadata);
        writer.add(WEIGHTS, dtype, decoder.weights());
        writer.addVector(BIAS, dtype, decoder.bias());
        return new DecoderArtefact(writer);
    }

    /** Returns what a reader must know of it; one pass to hash it. */
    DecoderManifest manifest(
            String site, long version, DecoderKind kind, String parentSha256, Map<String, String> lineage) {
        return new DecoderManifest(
                DecoderManifest.SCHEMA,
                site,
                version,
                kind,
                parentSha256,
                sha256(),
                bytes,
                DecoderChunk.chunksOf(bytes),
                lineage);
    }

    long bytes() {
        return bytes;
    }

    String sha256() {
        MessageDigest digest = newSha256();
        write(digest::update);
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Takes the records' values one after the other; each array is the taker's to keep. */
    interface ChunkSink {
        void accept(int index, byte[] value);
    }

    /** Cuts the blob; returns the number of chunks. */
    int cut(long decoderVersion, ChunkSink sink) {
        Cutter cutter = new Cutter(decoderVersion, bytes, sink);
        write(cutter::take);
        return cutter.index;
    }

    static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private void write(ByteSink pieces) {
        try {
            writer.writeTo(pieces);
        } catch (IOException e) {
            throw new UncheckedIOException("nothing here is a file", e);
        }
    }

    /** Fills one chunk after the other. */
    private static final class Cutter {
        private final long decoderVersion;
        private final ChunkSink sink;
        private long left;
        private int index;
        private ByteBuffer open = ByteBuffer.allocate(0);

        private Cutter(long decoderVersion, long bytes, ChunkSink sink) {
            this.decoderVersion = decoderVersion;
            this.left = bytes;
            this.sink = sink;
        }

        private void take(ByteBuffer piece) {
            while (piece.hasRemaining()) {
                if (!open.hasRemaining()) {
                    int payload = (int) Math.min(DecoderChunk.PAYLOAD_BYTES, left);
                    open = DecoderChunk.begin(decoderVersion, index, payload);
                    left -= payload;
                }
                int count = Math.min(piece.remaining(), open.remaining());
                open.put(piece.slice().limit(count));
                piece.position(piece.position() + count);
                if (!open.hasRemaining()) {
                    sink.accept(index++, open.array());
                }
            }
        }
    }
}
