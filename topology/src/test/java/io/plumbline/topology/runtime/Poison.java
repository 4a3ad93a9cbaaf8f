package io.plumbline.topology.runtime;

import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Makes records that are refused, of every reason an autoencoder's site can give, and good ones.
 *
 * @param width of the site
 * @param most rows a record may have, see {@code limits.rows_per_record}
 * @param rows the good rows of a record, by its number
 */
record Poison(int width, int most, LongFunction<Matrix> rows) {

    /**
     * The reasons, but for those that a tenant, a transcoder or a site with a mask alone gives, those that depend on
     * what came before, and those of moment records.
     */
    static final Reason[] REASONS = Arrays.stream(Reason.values())
            .filter(reason -> reason != Reason.OTHER_TENANT
                    && reason != Reason.MISSING_TARGETS
                    && reason != Reason.MISSING_TOKEN_IDS
                    && reason != Reason.MISSING_RECONSTRUCTIONS
                    && reason != Reason.MISSING_CODES
                    && reason != Reason.TOO_MANY_REQUESTS
                    && reason != Reason.WRONG_MASK
                    && reason != Reason.IMPOSSIBLE_MOMENT
                    && reason != Reason.UNEXPECTED_MOMENT
                    && reason != Reason.STRADDLES_PANES)
            .toArray(Reason[]::new);

    /** The records of {@link WatchedFolder}. */
    static final Poison SMALL = new Poison(WatchedFolder.WIDTH, 64, WatchedFolder::quiet);

    ProducerRecord<byte[], byte[]> good(long number, long timestampMs) {
        return record(number, timestampMs, WatchedFolder.SITE, ActivationRecords.blob(rows.apply(number)));
    }

    ProducerRecord<byte[], byte[]> bad(Reason reason, long number, long timestampMs) {
        String site = reason == Reason.UNKNOWN_SITE ? "another" : WatchedFolder.SITE;
        long time =
                switch (reason) {
                    case AHEAD_OF_TIME -> System.currentTimeMillis() + 30 * 60_000;
                    case BEHIND_TIME -> timestampMs / 1_000;
                    default -> timestampMs;
                };
        return record(number, time, site, value(reason, number));
    }

    private byte[] value(Reason reason, long number) {
        Matrix good = rows.apply(number);
        return switch (reason) {
            case NULL_VALUE -> null;
            case MALFORMED -> noise(number);
            case WRONG_WIDTH -> ActivationRecords.blob(Matrix.zeros(2, width + 1));
            case UNEXPECTED_TARGETS -> ActivationRecords.blob(good, good);
            case EMPTY_BATCH ->
                SafetensorsWriter.create()
                        .addRaw("activations", DType.F32, new long[] {0, width}, ByteBuffer.allocate(0))
                        .toBytes();
            case NON_FINITE -> {
                good.set(1, 2, Double.NaN);
                yield ActivationRecords.blob(good);
            }
            case TOO_MANY_ROWS -> ActivationRecords.blob(Matrix.zeros(most + 1, width));
            default -> ActivationRecords.blob(good);
        };
    }

    private static byte[] noise(long number) {
        byte[] noise = new byte[300];
        new SplittableRandom(number).nextBytes(noise);
        return noise;
    }

    private static ProducerRecord<byte[], byte[]> record(long number, long timestampMs, String site, byte[] value) {
        byte[] key = ("record " + number).getBytes(StandardCharsets.UTF_8);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("activations", 0, timestampMs, key, value);
        record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
        record.headers()
                .add("trace", ByteBuffer.allocate(Long.BYTES).putLong(number).array());
        return record;
    }
}
