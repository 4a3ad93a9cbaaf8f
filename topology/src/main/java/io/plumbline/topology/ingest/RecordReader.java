package io.plumbline.topology.ingest;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.EmptyBatchException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Turns the bytes of one activation record into a checked batch.
 *
 * <p>The site is the {@code site} header, or the key where there is none; a hot site can so be spread over all partitions
 * by any key. The request is the {@code request} header, or the record itself. Pure and thread-safe.
 */
final class RecordReader {

    /** Larger values would not survive the float32 row sample, and their squares could leave float64. */
    private static final double LARGEST_VALUE = Float.MAX_VALUE;

    private static final int LONGEST_NAME_IN_MESSAGE = 80;

    private final Map<String, SiteShape> sites;

    RecordReader(Map<String, SiteShape> sites) {
        this.sites = Map.copyOf(sites);
    }

    /** The checked batch, or {@link Refused} with the dead letter. What it says does not depend on where it was read. */
    Ingested read(byte @Nullable [] key, byte @Nullable [] value, Headers headers, long timestampMs) throws Refused {
        SiteShape shape = siteOf(key, headers);
        if (value == null) {
            throw new Refused(Reason.NULL_VALUE, "site %s: the record has no value".formatted(shape.site()));
        }
        ActivationBatch batch = parse(shape, value);
        checkWidths(shape, batch);
        checkFinite(shape, "activations", batch.activations());
        Matrix targets = batch.targets();
        if (targets != null) {
            checkFinite(shape, "targets", targets);
        }
        byte[] request = requestOf(headers);
        long record = RowSample.recordHash(value, timestampMs, request);
        long group = request == null ? record : RowSample.requestHash(new String(request, StandardCharsets.UTF_8));
        return new Ingested(shape.site(), group, batch, record);
    }

    private SiteShape siteOf(byte @Nullable [] key, Headers headers) throws Refused {
        Header header = headers.lastHeader("site");
        byte[] name = header != null && header.value() != null ? header.value() : key;
        if (name == null) {
            throw new Refused(Reason.UNKNOWN_SITE, "neither a 'site' header nor a key names the site");
        }
        String site = new String(name, StandardCharsets.UTF_8);
        SiteShape shape = sites.get(site);
        if (shape == null) {
            String shown =
                    site.length() > LONGEST_NAME_IN_MESSAGE ? site.substring(0, LONGEST_NAME_IN_MESSAGE) + "…" : site;
            throw new Refused(
                    Reason.UNKNOWN_SITE,
                    "site \"%s\" is not configured; configured: %s".formatted(shown, new TreeSet<>(sites.keySet())));
        }
        return shape;
    }

    private static ActivationBatch parse(SiteShape shape, byte[] value) throws Refused {
        try {
            return ActivationBatch.parse(value);
        } catch (EmptyBatchException e) {
            throw new Refused(Reason.EMPTY_BATCH, "site %s: %s".formatted(shape.site(), e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw new Refused(Reason.MALFORMED, "site %s: %s".formatted(shape.site(), e.getMessage()));
        }
    }

    private static void checkWidths(SiteShape shape, ActivationBatch batch) throws Refused {
        if (batch.activations().columns() != shape.inputWidth()) {
            throw new Refused(
                    Reason.WRONG_WIDTH,
                    "site %s: activations have %d columns, the explainer reads %d"
                            .formatted(shape.site(), batch.activations().columns(), shape.inputWidth()));
        }
        Matrix targets = batch.targets();
        if (!shape.transcoder()) {
            if (targets != null) {
                throw new Refused(
                        Reason.UNEXPECTED_TARGETS,
                        "site %s: the record has targets, but the explainer is a sparse autoencoder and reconstructs its own input"
                                .formatted(shape.site()));
            }
            return;
        }
        if (targets == null) {
            throw new Refused(
                    Reason.MISSING_TARGETS,
                    "site %s: a transcoder needs a tensor \"targets\" of %d columns beside \"activations\""
                            .formatted(shape.site(), shape.targetWidth()));
        }
        if (targets.columns() != shape.targetWidth()) {
            throw new Refused(
                    Reason.WRONG_WIDTH,
                    "site %s: targets have %d columns, the explainer writes %d"
                            .formatted(shape.site(), targets.columns(), shape.targetWidth()));
        }
    }

    private static void checkFinite(SiteShape shape, String tensor, Matrix rows) throws Refused {
        double[] values = rows.values();
        for (int i = 0; i < values.length; i++) {
            if (!(Math.abs(values[i]) <= LARGEST_VALUE)) {
                throw new Refused(
                        Reason.NON_FINITE,
                        "site %s: %s row %d, column %d is %s; no row of the batch was added"
                                .formatted(shape.site(), tensor, i / rows.columns(), i % rows.columns(), values[i]));
            }
        }
    }

    private static byte @Nullable [] requestOf(Headers headers) {
        Header header = headers.lastHeader("request");
        return header == null ? null : header.value();
    }

    /** A record that cannot be used, with the reason. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient DeadLetter deadLetter;

        Refused(Reason reason, String message) {
            super(message);
            this.deadLetter = new DeadLetter(reason, message);
        }

        DeadLetter deadLetter() {
            return deadLetter;
        }
    }
}
