package io.plumbline.topology.windows;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;

/**
 * Keys of the pane stores and their change-log topics.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     1  kind: 1 site state, 2 pane
 *      2     4  length s of the site name in bytes
 *      6     s  site, UTF-8
 *  6 + s     8  pane start, ms       (panes only, as the rest)
 * 14 + s     1  part: 1 counts, 2 moment tile, 3 sample part
 * 15 + s     4  index of the part
 * </pre>
 *
 * Big endian.
 */
record PaneKeys(byte kind, String site, long paneStartMs, byte part, int index) {

    static final byte SITE = 1;
    static final byte PANE = 2;
    static final byte COUNTS = 1;
    static final byte TILE = 2;
    static final byte SAMPLE = 3;
    private static final byte VERSION = 1;

    static Bytes site(String site) {
        byte[] name = site.getBytes(StandardCharsets.UTF_8);
        return Bytes.wrap(ByteBuffer.allocate(6 + name.length)
                .put(VERSION)
                .put(SITE)
                .putInt(name.length)
                .put(name)
                .array());
    }

    static Bytes pane(String site, long paneStartMs, byte part, int index) {
        byte[] name = site.getBytes(StandardCharsets.UTF_8);
        return Bytes.wrap(ByteBuffer.allocate(19 + name.length)
                .put(VERSION)
                .put(PANE)
                .putInt(name.length)
                .put(name)
                .putLong(paneStartMs)
                .put(part)
                .putInt(index)
                .array());
    }

    static PaneKeys decode(Bytes key) {
        ByteBuffer buffer = ByteBuffer.wrap(key.get());
        byte version = buffer.get();
        if (version != VERSION) {
            throw new IllegalStateException(
                    "the state store holds keys of version %d, this program writes %d; reset the application's state"
                            .formatted(version, VERSION));
        }
        byte kind = buffer.get();
        byte[] name = new byte[buffer.getInt()];
        buffer.get(name);
        String site = new String(name, StandardCharsets.UTF_8);
        return kind == SITE
                ? new PaneKeys(kind, site, 0, (byte) 0, 0)
                : new PaneKeys(kind, site, buffer.getLong(), buffer.get(), buffer.getInt());
    }
}
