package io.plumbline.topology.panes;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.EncodedRows;
import io.plumbline.requests.WholeRequests;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the same requests from several engines: for each value of a header the {@value #REQUESTS} requests whose
 * hashes are smallest, and of each {@value #ROWS} rows. Names and lengths alone decide which these are, so that engines
 * that serve the same requests have the same ones. Merges in any order.
 *
 * <p>A request's record, big-endian: rows that came (4), rows kept (4), values of a row (4), values of its target or 0
 * (4), whether token ids follow (1); then for each row its token id (8), its values and those of its target as float32.
 * A part of {@link #encode} is the version, 1 (1), the length of the value (2), the value, and a part of
 * {@link WholeRequests}.
 *
 * <p><b>Bounds.</b> Of more than {@value #MOST_ENGINES} values the first ones in their order are kept. <b>Size.</b>
 * {@code 4096 (d_in + d_out)} bytes a value. Not thread-safe; one owner.
 */
public final class EngineRequests {

    /** Names the headers that tell engines apart. */
    public static final List<String> HEADERS = List.of("model_revision", "quantization", "engine_version", "engine");

    /** The most requests of an engine. */
    public static final int REQUESTS = 128;

    /** The most rows of a request. */
    public static final int ROWS = 8;

    /** The most engines that are kept. */
    static final int MOST_ENGINES = 4;

    private static final byte VERSION = 1;
    private static final int PREFIX_BYTES = 1 + Short.BYTES;
    private static final int HEAD_BYTES = 4 * Integer.BYTES + 1;

    private final TreeMap<String, WholeRequests> byValue = new TreeMap<>();

    /**
     * Some rows of a request.
     *
     * @param request hash of its name, the same for each engine
     * @param came how many of its rows came
     */
    public record Kept(long request, int came, ActivationBatch rows) {

        /** Returns whether these are the same rows of the same tokens, as far as both say which tokens. */
        public boolean hasRowsOf(Kept other) {
            long[] ids = rows.tokenIds();
            long[] theirs = other.rows.tokenIds();
            return came == other.came && (ids == null || theirs == null || Arrays.equals(ids, theirs));
        }
    }

    /**
     * Returns the header by which a site compares engines: that of its breakdown, where it says what served a request
     * and there is an explainer to encode rows with; else null.
     */
    public static @Nullable String header(@Nullable String breakdownBy, boolean hasExplainer) {
        return hasExplainer && breakdownBy != null && HEADERS.contains(breakdownBy) ? breakdownBy : null;
    }

    /** Offers the request of a record. */
    void offer(String value, long request, long record, ActivationBlob rows) {
        of(value).offer(request, request, record, () -> encode(rows));
        shrink();
    }

    EngineRequests merge(EngineRequests other) {
        other.byValue.forEach((value, theirs) -> of(value).merge(theirs));
        shrink();
        return this;
    }

    private WholeRequests of(String value) {
        return byValue.computeIfAbsent(value, one -> WholeRequests.ofCapacity(REQUESTS));
    }

    /** Keeps the first values: one of them is among the first of every part, and never left out before. */
    private void shrink() {
        while (byValue.size() > MOST_ENGINES) {
            byValue.pollLastEntry();
        }
    }

    /** Returns the requests that came in one record each, by the value of the header. */
    public SortedMap<String, List<Kept>> kept() {
        SortedMap<String, List<Kept>> kept = new TreeMap<>();
        byValue.forEach((value, requests) -> kept.put(
                value,
                requests.kept().stream()
                        .map(one -> decode(one.hash(), one.bytes()))
                        .toList()));
        return kept;
    }

    long bytes() {
        return byValue.values().stream().mapToLong(WholeRequests::bytes).sum();
    }

    /** Counts everything as stored, or nothing. */
    void stored(boolean all) {
        byValue.values().forEach(requests -> requests.stored(all));
    }

    /** Returns all of it in parts; each can be merged on its own. */
    List<byte[]> encode(int maxBytes) {
        return parts(false, maxBytes);
    }

    /** Returns what was not stored yet, in such parts; it counts as stored from now on. */
    List<byte[]> encodeNew(int maxBytes) {
        return parts(true, maxBytes);
    }

    private List<byte[]> parts(boolean fresh, int maxBytes) {
        List<byte[]> parts = new ArrayList<>();
        byValue.forEach((value, requests) -> {
            byte[] name = value.getBytes(StandardCharsets.UTF_8);
            int most = maxBytes - PREFIX_BYTES - name.length;
            for (byte[] part : fresh ? requests.encodeNew(most) : requests.encode(most)) {
                parts.add(ByteBuffer.allocate(PREFIX_BYTES + name.length + part.length)
                        .put(VERSION)
                        .putShort((short) name.length)
                        .put(name)
                        .put(part)
                        .array());
            }
        });
        return parts;
    }

    /**
     * Merges a part of {@link #encode}.
     *
     * @throws IllegalArgumentException when the bytes are none
     */
    void mergeEncoded(byte[] bytes) {
        try {
            ByteBuffer part = ByteBuffer.wrap(bytes);
            byte version = part.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "requests of engines of version %d: expected version %d".formatted(version, VERSION));
            }
            byte[] name = new byte[Short.toUnsignedInt(part.getShort())];
            if (name.length > part.remaining()) {
                throw new BufferUnderflowException();
            }
            part.get(name);
            byte[] rest = new byte[part.remaining()];
            part.get(rest);
            String value = new String(name, StandardCharsets.UTF_8);
            WholeRequests known = byValue.get(value);
            WholeRequests requests = known == null ? WholeRequests.ofCapacity(REQUESTS) : known;
            requests.mergeEncoded(rest);
            byValue.put(value, requests);
            shrink();
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(
                    "a part of the requests of engines of %d bytes is cut short".formatted(bytes.length), e);
        }
    }

    /** Returns a part of {@link #encode(int)} without one request; the same array where it has none of it. */
    static byte[] without(byte[] part, long request) {
        new EngineRequests().mergeEncoded(part);
        int prefix = PREFIX_BYTES + Short.toUnsignedInt(ByteBuffer.wrap(part).getShort(1));
        byte[] requests = Arrays.copyOfRange(part, prefix, part.length);
        byte[] kept = WholeRequests.without(requests, request);
        return kept == requests
                ? part
                : ByteBuffer.allocate(prefix + kept.length)
                        .put(part, 0, prefix)
                        .put(kept)
                        .array();
    }

    private static byte[] encode(ActivationBlob request) {
        int came = request.rows();
        int kept = Math.min(ROWS, came);
        EncodedRows targets = request.targets();
        long[] ids = request.tokenIds();
        int width = request.activations().columns();
        int targetWidth = targets == null ? 0 : targets.columns();
        ByteBuffer bytes = ByteBuffer.allocate(
                HEAD_BYTES + kept * ((ids == null ? 0 : Long.BYTES) + Float.BYTES * (width + targetWidth)));
        bytes.putInt(came).putInt(kept).putInt(width).putInt(targetWidth).put((byte) (ids == null ? 0 : 1));
        for (int i = 0; i < kept; i++) {
            int row = (int) ((long) i * came / kept);
            if (ids != null) {
                bytes.putLong(ids[row]);
            }
            put(bytes, request.activations().row(row));
            if (targets != null) {
                put(bytes, targets.row(row));
            }
        }
        return bytes.array();
    }

    private static void put(ByteBuffer bytes, float[] values) {
        for (float value : values) {
            bytes.putFloat(value);
        }
    }

    private static Kept decode(long request, byte[] record) {
        ByteBuffer bytes = ByteBuffer.wrap(record);
        int came = bytes.getInt();
        int kept = bytes.getInt();
        Matrix rows = Matrix.zeros(kept, bytes.getInt());
        int targetWidth = bytes.getInt();
        Matrix targets = targetWidth == 0 ? null : Matrix.zeros(kept, targetWidth);
        long[] ids = bytes.get() == 0 ? null : new long[kept];
        for (int i = 0; i < kept; i++) {
            if (ids != null) {
                ids[i] = bytes.getLong();
            }
            get(bytes, rows, i);
            get(bytes, targets, i);
        }
        return new Kept(request, came, new ActivationBatch(rows, targets, ids));
    }

    private static void get(ByteBuffer bytes, @Nullable Matrix rows, int row) {
        for (int j = 0; rows != null && j < rows.columns(); j++) {
            rows.set(row, j, bytes.getFloat());
        }
    }
}
