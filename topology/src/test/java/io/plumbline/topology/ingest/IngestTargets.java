package io.plumbline.topology.ingest;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.MomentRecordWriter;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.fuzz.FuzzTarget;
import io.plumbline.topology.fuzz.Part;
import io.plumbline.topology.ingest.RecordReader.Refused;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;

/** Takes the whole way of an activation record: key, headers and value in, a checked batch or a dead letter out. */
public final class IngestTargets {

    private static final int LARGEST_LETTER = 200_000;

    private static final RecordReader READER = new RecordReader(
            Map.of(
                    "sae",
                    new SiteShape("sae", 3, 3, false, RowMask.NONE),
                    "transcoder",
                    new SiteShape("transcoder", 3, 2, true, RowMask.NONE)),
            Limits.DEFAULT);

    /** The bits for what is absent or too many, in the first part. */
    private static final int NO_KEY = 1;

    private static final int NO_SITE_HEADER = 2;
    private static final int NULL_SITE_HEADER = 4;
    private static final int NO_REQUEST_HEADER = 8;
    private static final int NULL_VALUE = 16;
    private static final int MANY_HEADERS = 32;

    private IngestTargets() {}

    public static List<FuzzTarget> all() {
        return List.of(new FuzzTarget(
                        "activation record",
                        List.of(Part.BYTES, Part.BYTES, Part.BYTES, Part.BYTES, Part.SAFETENSORS),
                        corpus(),
                        IngestTargets::read,
                        64)
                .weighing(20));
    }

    private static List<List<byte[]>> corpus() {
        Matrix rows = ActivationRecords.integerRows(4, 5, 3);
        Matrix targets = ActivationRecords.integerRows(5, 5, 2);
        List<List<byte[]>> corpus = new ArrayList<>();
        corpus.add(record(NO_SITE_HEADER | NO_REQUEST_HEADER, "sae", ActivationRecords.blob(rows)));
        corpus.add(record(0, "transcoder", ActivationRecords.blob(rows, targets)));
        corpus.add(record(
                NO_KEY,
                "sae",
                SafetensorsWriter.create()
                        .add("hidden_states", DType.F16, rows)
                        .addLongs("token_ids", 1, 2, 3, 4, 5)
                        .toBytes()));
        corpus.add(record(0, "sae", moment()));
        return corpus;
    }

    /** Returns a moment of two rows of three columns at the time of every record here. */
    private static byte[] moment() {
        return MomentRecordWriter.of(
                        new MomentRecord.Counts(2, 1, 1, 0),
                        new MomentRecord.Pane(0, 10),
                        3,
                        new double[] {3, 3, 3, 5, 5, 5, 5, 5, 5},
                        DType.F64,
                        Math.sqrt(12))
                .sample(new long[] {-4}, new long[] {9}, new long[] {5}, List.of(new float[] {2, 2, 2}), null)
                .totals(new long[] {9}, new long[] {1}, new long[] {2}, List.of("chat-1"), List.of(new double[] {3, 3, 3
                }))
                .toBytes();
    }

    private static List<byte[]> record(int flags, String site, byte[] value) {
        byte[] name = site.getBytes(StandardCharsets.UTF_8);
        return List.of(new byte[] {(byte) flags}, name, name, "chat-1".getBytes(StandardCharsets.UTF_8), value);
    }

    private static void read(List<byte[]> parts) {
        int flags = parts.get(0).length == 0 ? 0 : parts.get(0)[0];
        byte[] key = has(flags, NO_KEY) ? null : parts.get(1);
        byte[] value = has(flags, NULL_VALUE) ? null : parts.get(4);
        RecordHeaders headers = new RecordHeaders();
        if (has(flags, MANY_HEADERS)) {
            for (int i = 0; i < 100; i++) {
                headers.add("site", parts.get(3));
                headers.add("plumbline.reason", parts.get(2));
            }
        }
        if (!has(flags, NO_SITE_HEADER)) {
            headers.add("site", has(flags, NULL_SITE_HEADER) ? null : parts.get(2));
        }
        if (!has(flags, NO_REQUEST_HEADER)) {
            headers.add("request", parts.get(3));
        }
        try {
            Ingested taken = READER.read(key, value, headers, 5);
            if (taken.rows() < 1 || taken instanceof Ingested.Announcement) {
                throw new AssertionError("a batch without rows");
            }
        } catch (Refused refused) {
            requireSound(refused.deadLetter(), new Record<>(key, value, 5, headers));
            throw new IllegalArgumentException(refused.getMessage());
        }
    }

    /** Requires that the letter fits its topic and names its reason. */
    private static void requireSound(DeadLetter letter, Record<byte[], byte[]> refused) {
        Record<byte[], byte[]> written = letter.record(refused, "activations", 3, 7, LARGEST_LETTER);
        long bytes = written.key() == null ? 0 : written.key().length;
        bytes += written.value() == null ? 0 : written.value().length;
        for (Header header : written.headers()) {
            bytes += header.key().length() + (header.value() == null ? 0 : header.value().length);
        }
        KeptLetter kept = KeptLetter.of(written.headers());
        if (!kept.place().equals(new DeadLetter.Place("activations", 3, 7)) || kept.timestampMs() != 5) {
            throw new AssertionError("a letter from " + kept);
        }
        byte[] reason = written.headers().lastHeader("plumbline.reason").value();
        if (bytes > LARGEST_LETTER || !letter.reason().label().equals(new String(reason, StandardCharsets.UTF_8))) {
            throw new AssertionError("a letter of %d bytes with reason %s".formatted(bytes, letter.reason()));
        }
    }

    private static boolean has(int flags, int flag) {
        return (flags & flag) != 0;
    }
}
