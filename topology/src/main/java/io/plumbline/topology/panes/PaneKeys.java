package io.plumbline.topology.panes;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;

/**
 * Keys of the pane stores and their change-log topics.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     1  kind: 1 site state, 2 pane, 3 agreement about a site
 *      2     4  length s of the site name in bytes
 *      6     s  site, UTF-8
 *  6 + s     8  pane start, ms       (panes only, as the rest)
 * 14 + s     1  {@link Pane#MOMENT}, or the number of the {@link PartKind}
 * 15 + s     4  index within it
 * </pre>
 *
 * Big endian.
 */
public record PaneKeys(byte kind, String site, long paneStartMs, byte part, int index) {

    public static final byte SITE = 1;
    public static final byte PANE = 2;
    static final byte AGREEMENT = 3;
    private static final byte VERSION = 1;
    private static final int NAME_OFFSET = 6;
    private static final int PANE_BYTES = 13;

    public static Bytes site(String site) {
        return ofSite(SITE, site);
    }

    static Bytes agreement(String site) {
        return ofSite(AGREEMENT, site);
    }

    private static Bytes ofSite(byte kind, String site) {
        byte[] name = site.getBytes(StandardCharsets.UTF_8);
        return Bytes.wrap(ByteBuffer.allocate(NAME_OFFSET + name.length)
                .put(VERSION)
                .put(kind)
                .putInt(name.length)
                .put(name)
                .array());
    }

    public static Bytes pane(String site, long paneStartMs, byte part, int index) {
        byte[] name = site.getBytes(StandardCharsets.UTF_8);
        return Bytes.wrap(ByteBuffer.allocate(NAME_OFFSET + name.length + PANE_BYTES)
                .put(VERSION)
                .put(PANE)
                .putInt(name.length)
                .put(name)
                .putLong(paneStartMs)
                .put(part)
                .putInt(index)
                .array());
    }

    public static PaneKeys decode(Bytes key) {
        byte[] bytes = key.get();
        ByteBuffer buffer = StateVersion.open("key", VERSION, bytes);
        if (bytes.length < NAME_OFFSET) {
            StateVersion.requireLength("key", NAME_OFFSET, bytes);
        }
        byte kind = buffer.get();
        int nameLength = buffer.getInt();
        // Compared before anything is allocated; a sum with a hostile length could overflow.
        int nameBytes = bytes.length - NAME_OFFSET - (kind == PANE ? PANE_BYTES : 0);
        if (kind < SITE || kind > AGREEMENT || nameLength != nameBytes || nameLength < 0) {
            throw new IllegalStateException(
                    ("the state store holds a key of kind %d with a name of %d bytes in %d bytes; "
                                    + "reset the application's state")
                            .formatted(kind, nameLength, bytes.length));
        }
        byte[] name = new byte[nameLength];
        buffer.get(name);
        String site = new String(name, StandardCharsets.UTF_8);
        return kind == PANE
                ? new PaneKeys(kind, site, buffer.getLong(), buffer.get(), buffer.getInt())
                : new PaneKeys(kind, site, 0, (byte) 0, 0);
    }
}
