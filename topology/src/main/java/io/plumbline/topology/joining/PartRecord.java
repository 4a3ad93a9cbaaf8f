package io.plumbline.topology.joining;

import io.plumbline.topology.ingest.DeadLetter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * A record as it was read, with its place: it waits for the other parts, or becomes a dead letter with every byte.
 *
 * <p>Layout, big-endian; a length of -1 stands for null:
 *
 * <table>
 * <caption>bytes</caption>
 * <tr><td>1</td><td>version, {@value #VERSION}</td></tr>
 * <tr><td>8</td><td>event time, ms</td></tr>
 * <tr><td>8</td><td>offset</td></tr>
 * <tr><td>4</td><td>partition</td></tr>
 * <tr><td>4 + n</td><td>topic, UTF-8</td></tr>
 * <tr><td>4 + n</td><td>key</td></tr>
 * <tr><td>4</td><td>headers, then for each 4 + n name in UTF-8 and 4 + n value</td></tr>
 * <tr><td>4 + n</td><td>value</td></tr>
 * </table>
 */
record PartRecord(Record<byte @Nullable [], byte @Nullable []> record, DeadLetter.Place place) {

    private static final byte VERSION = 1;

    /** The bytes that objects take beside what was sent. */
    private static final int OVERHEAD = 500;

    /** Returns what the part holds in memory. */
    long bytes() {
        long bytes = OVERHEAD + length(record.key()) + length(record.value());
        for (Header header : record.headers()) {
            bytes += OVERHEAD / 10 + header.key().length() + length(header.value());
        }
        return bytes;
    }

    private static long length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(OVERHEAD);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeLong(record.timestamp());
            out.writeLong(place.offset());
            out.writeInt(place.partition());
            write(out, place.topic().getBytes(StandardCharsets.UTF_8));
            write(out, record.key());
            Header[] headers = record.headers().toArray();
            out.writeInt(headers.length);
            for (Header header : headers) {
                write(out, header.key().getBytes(StandardCharsets.UTF_8));
                write(out, header.value());
            }
            write(out, record.value());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a stream in memory does not fail
        }
        return bytes.toByteArray();
    }

    static PartRecord decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            byte version = in.readByte();
            if (version != VERSION) {
                throw new IllegalStateException(
                        "the state store holds a part of version %d, this program writes %d; reset the application's state"
                                .formatted(version, VERSION));
            }
            long timestampMs = in.readLong();
            long offset = in.readLong();
            int partition = in.readInt();
            String topic = text(in);
            byte[] key = read(in);
            Headers headers = new RecordHeaders();
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                headers.add(text(in), read(in));
            }
            byte[] value = read(in);
            return new PartRecord(
                    new Record<>(key, value, timestampMs, headers), new DeadLetter.Place(topic, partition, offset));
        } catch (IOException e) {
            throw new IllegalStateException(
                    "the state store holds a part of %d bytes that ends too early; reset the application's state"
                            .formatted(bytes.length),
                    e);
        }
    }

    private static void write(DataOutputStream out, byte @Nullable [] bytes) throws IOException {
        out.writeInt(bytes == null ? -1 : bytes.length);
        if (bytes != null) {
            out.write(bytes);
        }
    }

    private static String text(DataInputStream in) throws IOException {
        byte[] bytes = read(in);
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    private static byte @Nullable [] read(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0) {
            return null;
        }
        byte[] bytes = new byte[Math.min(length, in.available())];
        in.readFully(bytes);
        return bytes;
    }
}
