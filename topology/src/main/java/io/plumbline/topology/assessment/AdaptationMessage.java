package io.plumbline.topology.assessment;

import io.plumbline.moments.RowSample;
import io.plumbline.requests.WholeRequests;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks the adapter about a site, keyed by the site; the monitor sends it, or a person. The parts of a row sample and
 * those of whole requests come first, then the request that names them.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     1  kind: 1 sample part, 2 adapt a site with one target, 3 revert, 4 roll back, 5 command,
 *                  6 request part, 7 adapt blocks of a site with several, 8 propose the candidate
 *      2     8  window end, ms: names the request; of a command when it was typed
 *  sample part  10  4  index   14  …  a part of a {@link io.plumbline.moments.RowSample}
 *  adapt        10  8  window start, ms   18  8  rows in the window   26  4  capacity of the sample   30  4  parts
 *  revert       (nothing more)
 *  roll back    10  8  version of the decoder   18  4  windows it served   22  4  those in which it did worse
 *               26  8  its FVU in the last of them   34  8  that of the trained decoder
 *               42  8  KL of the model's output with it in place, NaN: not measured
 *               50  8  that of the trained decoder
 *  command      10  1  verb: 1 approve, 2 pin, 3 unpin, 4 roll back   11  8  version, -1: the one in service
 *               19  1  length of the id   20  …  id, UTF-8   …  1  length of the next   …  …  who asks, UTF-8
 *               …   …  signature of the bytes before, where there is one
 *  request part 10  4  index   14  …  a part of {@link io.plumbline.requests.WholeRequests}
 *  adapt blocks 10  8  window start, ms   18  4  number of blocks, then of each
 *               0   4  target layer   4  8  rows in the window   12  4  capacity of the sample   16  4  parts
 *  propose      10  8  version of the decoder in service   18  4  windows that were compared
 *               22  4  those in which the candidate was better
 *               26  8  FVU of the explainer in service in the last   34  8  that of the candidate
 *               42  …  SHA-256 of the candidate's trained decoder, 64 hexadecimal digits
 * </pre>
 *
 * Big endian. No message exceeds 512 KiB.
 */
public sealed interface AdaptationMessage {

    byte VERSION = 1;

    /** Returns the end of the window that asks; of a command, when it was typed. */
    long windowEndMs();

    public byte[] encode();

    /** One part of the window's row sample. */
    record SamplePart(long windowEndMs, int index, byte[] part) implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 1, windowEndMs, 4 + part.length)
                    .putInt(index)
                    .put(part)
                    .array();
        }
    }

    /** One part of the window's whole requests, which a refit is judged on. */
    record RequestPart(long windowEndMs, int index, byte[] part) implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 6, windowEndMs, 4 + part.length)
                    .putInt(index)
                    .put(part)
                    .array();
        }
    }

    /**
     * The rows of one block that asks for a refit.
     *
     * @param target its layer; null at a site with one target
     * @param rows rows in the window
     * @param sampleCapacity of its sample
     * @param parts of its sample, sent before under the name of the block
     */
    record BlockRows(@Nullable Integer target, long rows, int sampleCapacity, int parts) {

        private static final int BYTES = 16;

        private static BlockRows decode(@Nullable Integer target, ByteBuffer buffer) {
            return new BlockRows(target, buffer.getLong(), buffer.getInt(), buffer.getInt());
        }
    }

    /**
     * Asks to pool the rows of this window and, where a refit is due, to publish one decoder of the site if it helps
     * each block that is refitted. Keyed by the configured site.
     *
     * @param blocks the drifted blocks; at a site with one target the site itself
     */
    record Adapt(long windowEndMs, long windowStartMs, List<BlockRows> blocks) implements AdaptationMessage {

        public Adapt {
            blocks = List.copyOf(blocks);
            if (blocks.isEmpty() || (blocks.size() > 1 && blocks.stream().anyMatch(block -> block.target() == null))) {
                throw new IllegalArgumentException(
                        "a request of %d blocks, expected each with its target layer".formatted(blocks.size()));
            }
        }

        /** Returns the rows in the window. */
        public long rows() {
            return blocks.stream().mapToLong(BlockRows::rows).max().orElse(0);
        }

        /** Returns what one of the blocks alone would ask. */
        public Adapt of(BlockRows block) {
            return new Adapt(windowEndMs, windowStartMs, List.of(block));
        }

        @Override
        public byte[] encode() {
            ByteBuffer rows = ByteBuffer.allocate((4 + BlockRows.BYTES) * blocks.size());
            for (BlockRows block : blocks) {
                if (block.target() != null) {
                    rows.putInt(block.target());
                }
                rows.putLong(block.rows()).putInt(block.sampleCapacity()).putInt(block.parts());
            }
            rows.flip();
            return blocks.get(0).target() == null
                    ? header((byte) 2, windowEndMs, 8 + rows.remaining())
                            .putLong(windowStartMs)
                            .put(rows)
                            .array()
                    : header((byte) 7, windowEndMs, 12 + rows.remaining())
                            .putLong(windowStartMs)
                            .putInt(blocks.size())
                            .put(rows)
                            .array();
        }

        private static Adapt decodeBlocks(ByteBuffer buffer, long windowEndMs) {
            long windowStartMs = buffer.getLong();
            int count = buffer.getInt();
            List<BlockRows> blocks = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                blocks.add(BlockRows.decode(buffer.getInt(), buffer));
            }
            return new Adapt(windowEndMs, windowStartMs, blocks);
        }
    }

    /** Asks to publish the trained decoder again, if an adapted one is active. */
    record Revert(long windowEndMs) implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 3, windowEndMs, 0).array();
        }
    }

    /**
     * Asks to publish the trained decoder again: the one in service did worse on the windows after its swap.
     *
     * @param version of the decoder in service
     * @param windows that could be compared since the swap
     * @param worse those in which it did significantly worse
     * @param fvuActive its FVU in the newest of them
     * @param fvuTrained that of the trained decoder on the same rows
     * @param klActive KL of the model's output with it in place, in the newest of them; NaN where it was not measured
     * @param klTrained that of the trained decoder on the same requests
     */
    record RollBack(
            long windowEndMs,
            long version,
            int windows,
            int worse,
            double fvuActive,
            double fvuTrained,
            double klActive,
            double klTrained)
            implements AdaptationMessage {
        @Override
        public byte[] encode() {
            return header((byte) 4, windowEndMs, 48)
                    .putLong(version)
                    .putInt(windows)
                    .putInt(worse)
                    .putDouble(fvuActive)
                    .putDouble(fvuTrained)
                    .putDouble(klActive)
                    .putDouble(klTrained)
                    .array();
        }
    }

    /**
     * Asks to propose the explainer that was measured beside the one in service.
     *
     * @param version of the decoder in service, beside which it was measured
     * @param explainerSha256 of its trained decoder
     * @param windows the last ones that were compared
     * @param better those in which it reconstructed significantly better
     * @param fvuInService of the explainer in service in the newest
     * @param fvu of the candidate on the same rows
     */
    record Propose(
            long windowEndMs,
            long version,
            String explainerSha256,
            int windows,
            int better,
            double fvuInService,
            double fvu)
            implements AdaptationMessage {

        private static final int HASH_DIGITS = 64;

        @Override
        public byte[] encode() {
            return header((byte) 8, windowEndMs, 32 + HASH_DIGITS)
                    .putLong(version)
                    .putInt(windows)
                    .putInt(better)
                    .putDouble(fvuInService)
                    .putDouble(fvu)
                    .put(explainerSha256.getBytes(StandardCharsets.US_ASCII))
                    .array();
        }

        private static Propose decode(ByteBuffer buffer, long windowEndMs) {
            long version = buffer.getLong();
            int windows = buffer.getInt();
            int better = buffer.getInt();
            double inService = buffer.getDouble();
            double fvu = buffer.getDouble();
            byte[] hash = new byte[HASH_DIGITS];
            buffer.get(hash);
            return new Propose(
                    windowEndMs, version, new String(hash, StandardCharsets.US_ASCII), windows, better, inService, fvu);
        }
    }

    /** The commands of a person. */
    enum Verb {
        APPROVE(1),
        PIN(2),
        UNPIN(3),
        ROLL_BACK(4);

        private final byte code;

        Verb(int code) {
            this.code = (byte) code;
        }

        private static Verb of(byte code) {
            for (Verb verb : values()) {
                if (verb.code == code) {
                    return verb;
                }
            }
            throw new IllegalArgumentException("command with unknown verb " + code);
        }
    }

    /**
     * A command of a person.
     *
     * @param windowEndMs when it was typed
     * @param id comes back with the answer; at most 127 bytes
     * @param version the candidate to approve, or the decoder to pin: 0 the trained one, {@link #IN_SERVICE} whichever
     *     serves
     * @param by who asks, for the record
     * @param signature of {@link #unsigned}, hexadecimal; empty: none
     */
    record Command(long windowEndMs, String id, Verb verb, long version, String by, String signature)
            implements AdaptationMessage {

        /** Stands in place of a version for the decoder in service. */
        public static final long IN_SERVICE = -1;

        private static final int LONGEST = 127;

        /** Creates a command that nobody signed. */
        public Command(long windowEndMs, String id, Verb verb, long version, String by) {
            this(windowEndMs, id, verb, version, by, "");
        }

        public Command {
            if (id.isEmpty() || utf8(id).length > LONGEST || utf8(by).length > LONGEST) {
                throw new IllegalArgumentException("a command's id and author have 1 to %d bytes, not %d and %d"
                        .formatted(LONGEST, utf8(id).length, utf8(by).length));
            }
        }

        /** Returns this command with a signature. */
        public Command signed(byte[] by) {
            return new Command(
                    windowEndMs, id, verb, version, this.by, HexFormat.of().formatHex(by));
        }

        /** Returns this command under the name of who is known to have given it. */
        public Command givenBy(String name) {
            return new Command(windowEndMs, id, verb, version, name, signature);
        }

        /** Returns the bytes of the command without its signature: what is signed. */
        public byte[] unsigned() {
            return new Command(windowEndMs, id, verb, version, by).encode();
        }

        @Override
        public byte[] encode() {
            byte[] name = utf8(id);
            byte[] author = utf8(by);
            byte[] signed = HexFormat.of().parseHex(signature);
            return header((byte) 5, windowEndMs, 11 + name.length + author.length + signed.length)
                    .put(verb.code)
                    .putLong(version)
                    .put((byte) name.length)
                    .put(name)
                    .put((byte) author.length)
                    .put(author)
                    .put(signed)
                    .array();
        }

        private static Command decode(ByteBuffer buffer, long windowEndMs) {
            Verb verb = Verb.of(buffer.get());
            long version = buffer.getLong();
            byte[] name = new byte[Math.max(0, buffer.get())];
            buffer.get(name);
            byte[] author = new byte[Math.max(0, buffer.get())];
            buffer.get(author);
            byte[] signed = new byte[Math.min(LONGEST, buffer.remaining())];
            buffer.get(signed);
            return new Command(
                    windowEndMs,
                    text(name),
                    verb,
                    version,
                    text(author),
                    HexFormat.of().formatHex(signed));
        }

        private static byte[] utf8(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    private static ByteBuffer header(byte kind, long windowEndMs, int bodyBytes) {
        return ByteBuffer.allocate(10 + bodyBytes).put(VERSION).put(kind).putLong(windowEndMs);
    }

    /** Reads one message; throws {@link IllegalArgumentException} when the bytes are not one of this version. */
    static AdaptationMessage decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "adaptation message of version %d, expected %d".formatted(version, VERSION));
            }
            byte kind = buffer.get();
            long windowEndMs = buffer.getLong();
            return switch (kind) {
                case 1 -> new SamplePart(windowEndMs, buffer.getInt(), rest(buffer));
                case 2 -> new Adapt(windowEndMs, buffer.getLong(), List.of(BlockRows.decode(null, buffer)));
                case 3 -> new Revert(windowEndMs);
                case 4 ->
                    new RollBack(
                            windowEndMs,
                            buffer.getLong(),
                            buffer.getInt(),
                            buffer.getInt(),
                            buffer.getDouble(),
                            buffer.getDouble(),
                            buffer.getDouble(),
                            buffer.getDouble());
                case 5 -> Command.decode(buffer, windowEndMs);
                case 6 -> new RequestPart(windowEndMs, buffer.getInt(), rest(buffer));
                case 7 -> Adapt.decodeBlocks(buffer, windowEndMs);
                case 8 -> Propose.decode(buffer, windowEndMs);
                default -> throw new IllegalArgumentException("adaptation message of unknown kind " + kind);
            };
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(
                    "adaptation message of %d bytes is cut short".formatted(bytes.length), e);
        }
    }

    /**
     * Returns a message without the rows of one request; the same array where it holds none of them.
     *
     * @param request hash of its name
     * @throws IllegalArgumentException when the bytes are no message of this version
     */
    static byte[] without(byte[] bytes, long request) {
        AdaptationMessage message = decode(bytes);
        if (message instanceof SamplePart sample) {
            byte[] kept = RowSample.without(sample.part(), request);
            return kept == sample.part() ? bytes : new SamplePart(sample.windowEndMs(), sample.index(), kept).encode();
        }
        if (message instanceof RequestPart whole) {
            byte[] kept = WholeRequests.without(whole.part(), request);
            return kept == whole.part() ? bytes : new RequestPart(whole.windowEndMs(), whole.index(), kept).encode();
        }
        return bytes;
    }

    private static byte[] rest(ByteBuffer buffer) {
        byte[] rest = new byte[buffer.remaining()];
        buffer.get(rest);
        return rest;
    }
}
