package io.plumbline.topology.emission;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.emission.DecoderSubscription.Parent;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Holds the chunks of one version of one site that wait for their manifest, each at its place in a private file.
 *
 * <p>A file and not arrays: an artefact of 537 MB then costs no heap until it has been verified, and the decoder made
 * of it is the only large thing there is. The price is one pass through the page cache. The file is made for its owner
 * only and has no name from then on where the system allows it, so that nobody else opens it and a killed process
 * leaves none behind.
 */
final class PendingVersion implements AutoCloseable {

    private static final int PIECE_BYTES = 1 << 16;

    private final long version;
    private final long largest;
    private final Path folder;
    private final BitSet received = new BitSet();
    private @Nullable FileChannel spool;
    private @Nullable String broken;

    /**
     * @param largest bytes that its chunks may span
     * @param folder where the file is made, with the first chunk
     */
    PendingVersion(long version, long largest, Path folder) {
        this.version = version;
        this.largest = largest;
        this.folder = folder;
    }

    long version() {
        return version;
    }

    /** Returns the bytes on the disk, to within a chunk. */
    long spooled() {
        return (long) received.cardinality() * DecoderChunk.PAYLOAD_BYTES;
    }

    void take(DecoderChunk chunk) {
        if (broken != null) {
            return;
        }
        long at = (long) chunk.index() * DecoderChunk.PAYLOAD_BYTES;
        long end = at + chunk.payload().remaining();
        if (end > largest) {
            giveUp("its chunk %d ends at byte %d, at most %d are taken for this site"
                    .formatted(chunk.index(), end, largest));
            return;
        }
        try {
            FileChannel file = spool == null ? open(folder) : spool;
            spool = file;
            ByteBuffer payload = chunk.payload();
            while (payload.hasRemaining()) {
                file.write(payload, end - payload.remaining());
            }
            received.set(chunk.index());
        } catch (IOException e) {
            giveUp("its chunks cannot be kept in %s: %s; make room there and start the subscriber again to read it"
                    .formatted(folder, e));
        }
    }

    /** Forgets the chunks; the manifest will hear why. */
    void giveUp(String reason) {
        broken = reason;
        received.clear();
        close();
    }

    /** Returns why there is nothing whole to verify, or null. */
    @Nullable
    String incomplete(DecoderManifest manifest) throws IOException {
        if (broken != null) {
            return broken;
        }
        if (received.length() > manifest.chunks()) {
            return "it has a chunk with index %d, its manifest says %s"
                    .formatted(received.length() - 1, Amounts.count(manifest.chunks(), "chunk"));
        }
        if (received.cardinality() < manifest.chunks()) {
            return missing(received.cardinality(), manifest);
        }
        long bytes = file().size();
        return bytes == manifest.bytes()
                ? null
                : "its chunks end at byte %d, its manifest says %d".formatted(bytes, manifest.bytes());
    }

    static String missing(int found, DecoderManifest manifest) {
        return "the topic has %d of its %s".formatted(found, Amounts.count(manifest.chunks(), "chunk"));
    }

    String sha256() throws IOException {
        MessageDigest digest = DecoderArtefact.newSha256();
        ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
        long at = 0;
        for (int count = file().read(piece, at); count >= 0; count = file().read(piece, at)) {
            at += count;
            digest.update(piece.flip());
            piece.clear();
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Throws {@link IllegalArgumentException} when the file is not a decoder such as {@code parent}. */
    PublishedDecoder decode(
            ArtefactReader reader, DecoderManifest manifest, RecordSignature signature, @Nullable Parent parent)
            throws IOException {
        try {
            return reader.read(Safetensors.open(file()), manifest, signature, parent);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private FileChannel file() {
        if (spool == null) {
            throw new IllegalStateException("version " + version + " has no chunks");
        }
        return spool;
    }

    private static FileChannel open(Path folder) throws IOException {
        boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] ownerOnly = posix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
                }
                : new FileAttribute<?>[0];
        return FileChannel.open(
                folder.resolve("plumbline-decoder-%s.spool".formatted(UUID.randomUUID())),
                Set.of(
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.DELETE_ON_CLOSE),
                ownerOnly);
    }

    /** Deletes the file. */
    @Override
    public void close() {
        FileChannel file = spool;
        spool = null;
        if (file != null) {
            try {
                file.close();
            } catch (IOException e) {
                throw new UncheckedIOException("the private file in %s cannot be closed".formatted(folder), e);
            }
        }
    }
}
