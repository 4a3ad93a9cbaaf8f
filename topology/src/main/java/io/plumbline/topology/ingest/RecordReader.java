package io.plumbline.topology.ingest;

import io.plumbline.judgement.Amounts;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatchException;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.EmptyBatchException;
import io.plumbline.records.EncodedRows;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.RequestName;
import io.plumbline.records.RequestRecord;
import io.plumbline.records.TargetBlock;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import io.plumbline.wire.KnownHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Checks the bytes of one activation record, rows or a moment, without decoding them.
 *
 * <p>The site is the {@code site} header, or the key where there is none; a hot site can so be spread over all
 * partitions by any key. The request is the {@code request} header, or the record itself. Thread-safe.
 */
public final class RecordReader {

    /**
     * The largest value: larger ones would not survive the float32 row sample, and their squares could leave float64.
     */
    private static final double LARGEST_VALUE = Float.MAX_VALUE;

    private static final int LONGEST_NAME_IN_MESSAGE = 80;
    private static final int NAMES_IN_MESSAGE = 10;

    private final Map<String, List<SiteShape>> sites;
    private final Set<String> elsewhere;
    private final Limits limits;
    private final int longestName;
    private final String configured;
    private final KnownHeaders knownHeaders = new KnownHeaders();
    private final MomentChecks momentChecks;

    /** @param sites what records may be of; all others are refused */
    public RecordReader(Map<String, SiteShape> sites, Limits limits) {
        this(sites, Set.of(), limits);
    }

    /**
     * @param sites what records may be of; all others are refused
     * @param elsewhere sites whose rows come by topics of other tenants
     */
    public RecordReader(Map<String, SiteShape> sites, Set<String> elsewhere, Limits limits) {
        this.sites = byName(sites);
        this.elsewhere = Set.copyOf(elsewhere);
        this.limits = limits;
        momentChecks = new MomentChecks(limits);
        longestName = Stream.concat(this.sites.keySet().stream(), elsewhere.stream())
                .mapToInt(site -> site.getBytes(StandardCharsets.UTF_8).length)
                .max()
                .orElse(0);
        configured = configured(this.sites.keySet());
    }

    /** A site with several targets is read under the name of the configured site, and each block under its own. */
    private static Map<String, List<SiteShape>> byName(Map<String, SiteShape> shapes) {
        Map<String, List<SiteShape>> named = new TreeMap<>();
        new TreeMap<>(shapes).forEach((site, shape) -> {
            named.computeIfAbsent(site, name -> new ArrayList<>()).add(shape);
            if (shape.id().isBlock()) {
                named.computeIfAbsent(shape.id().group(), name -> new ArrayList<>())
                        .add(shape);
            }
        });
        return Map.copyOf(named);
    }

    /** Says once for all records of unknown sites, which may be many, what is configured. */
    private static String configured(Set<String> sites) {
        List<String> first = sites.stream().sorted().limit(NAMES_IN_MESSAGE).toList();
        return sites.size() == first.size()
                ? first.toString()
                : first + " and %d more".formatted(sites.size() - first.size());
    }

    /**
     * Returns the checked record once for every block of its site, or for the site itself. Throws {@link Refused} with
     * the dead letter where one of them cannot take it.
     */
    public List<Ingested> readAll(byte @Nullable [] key, byte @Nullable [] value, Headers headers, long timestampMs)
            throws Refused {
        List<Ingested> read = new ArrayList<>();
        for (SiteShape shape : shapesOf(key, headers)) {
            read.add(read(shape, value, headers, timestampMs));
        }
        return read;
    }

    /**
     * Returns the checked record of a site with one target, whose bytes are not copied, or throws {@link Refused} with
     * the dead letter. What it says does not depend on where it was read.
     */
    public Ingested read(byte @Nullable [] key, byte @Nullable [] value, Headers headers, long timestampMs)
            throws Refused {
        return read(shapesOf(key, headers).get(0), value, headers, timestampMs);
    }

    private Ingested read(SiteShape shape, byte @Nullable [] value, Headers headers, long timestampMs) throws Refused {
        Long id = idOf(shape, headers);
        if (value == null) {
            return announced(shape, id, notesOf(shape, headers, 0));
        }
        ActivationRecord parsed = parse(shape, value);
        if (parsed instanceof MomentRecord moment) {
            momentChecks.check(shape, moment, timestampMs);
            ProducerNotes notes = notesOf(shape, headers, Ingested.Moment.rowsOf(moment));
            return new Ingested.Moment(shape.site(), id, notes, moment);
        }
        ActivationBlob blob = (ActivationBlob) parsed;
        checkRows(shape, blob);
        if (shape.given()) {
            checkReconstructions(shape, blob);
        } else {
            checkWidths(shape, blob);
        }
        checkTokenIds(shape, blob);
        checkFinite(shape, "activations", blob.activations());
        EncodedRows targets = blob.targets();
        if (targets != null) {
            checkFinite(shape, "targets", targets);
        }
        byte[] request = requestOf(headers);
        long record = RowSample.recordHash(value, timestampMs, request);
        RowMask.Kept<ActivationBlob> kept = shape.mask().apply(written(shape, blob));
        ActivationBlob rows = kept.rows();
        if (rows != null && shape.given()) {
            kept = new RowMask.Kept<>(joined(shape, rows), kept.masked());
        }
        ProducerNotes notes = notesOf(shape, headers, blob.rows());
        return new Ingested.Rows(
                shape.site(), id, notes, record, named(request, record), kept, whole(shape, value, notes));
    }

    private static Ingested.Request named(byte @Nullable [] request, long record) {
        if (request == null) {
            return new Ingested.Request(record, null);
        }
        String name = new String(request, StandardCharsets.UTF_8);
        return new Ingested.Request(RowSample.requestHash(name), RequestName.shortened(name));
    }

    /**
     * Returns the whole request; null where the site names no rest of its model, or the record has not every row that
     * it reads.
     */
    private @Nullable RequestRecord whole(SiteShape shape, byte[] value, ProducerNotes notes) throws Refused {
        if (!shape.whole()) {
            return null;
        }
        RequestRecord requests;
        try {
            requests = RequestRecord.parse(value, knownHeaders, shape.layers());
        } catch (IllegalArgumentException e) {
            throw new Refused(Reason.MALFORMED, "site %s: %s".formatted(shape.site(), e.getMessage()));
        }
        EncodedRows residual = requests.residual();
        if (residual != null) {
            checkFinite(shape, RequestRecord.RESIDUAL, residual);
        }
        Coverage coverage = notes.coverage();
        boolean rowsMissing = requests.lacksRows() || coverage.cached() > 0 || coverage.notSampled() > 0;
        return rowsMissing || (shape.transcoder() && residual == null) ? null : requests;
    }

    /** Reads a record without a value, which tells of tokens whose rows come later, or never. */
    private static Ingested announced(SiteShape shape, @Nullable Long id, ProducerNotes notes) throws Refused {
        if (!notes.coverage().isKnown()) {
            throw new Refused(
                    Reason.NULL_VALUE,
                    "site %s: the record has no value, and no header %s that says what was served"
                            .formatted(shape.site(), Coverage.SERVED));
        }
        return new Ingested.Announcement(shape.site(), id, notes);
    }

    /** Returns the bytes of the site's name: those of the header {@code site}, or the key; null without either. */
    static byte @Nullable [] siteOf(byte @Nullable [] key, Headers headers) {
        Header header = headers.lastHeader("site");
        return header != null && header.value() != null ? header.value() : key;
    }

    private List<SiteShape> shapesOf(byte @Nullable [] key, Headers headers) throws Refused {
        byte[] name = siteOf(key, headers);
        if (name == null) {
            throw new Refused(Reason.UNKNOWN_SITE, "neither a 'site' header nor a key names the site");
        }
        // A name longer than any configured one is not even made a text of.
        String site = name.length > longestName ? null : new String(name, StandardCharsets.UTF_8);
        List<SiteShape> shapes = site == null ? null : sites.get(site);
        if (site != null && elsewhere.contains(site)) {
            // Names none of theirs: who may write here need not know them.
            throw new Refused(
                    Reason.OTHER_TENANT,
                    "site \"%s\" is not of the tenant whose topic this is; its own: %s".formatted(site, configured));
        }
        if (shapes == null) {
            boolean cut = name.length > LONGEST_NAME_IN_MESSAGE;
            String shown = new String(name, 0, cut ? LONGEST_NAME_IN_MESSAGE : name.length, StandardCharsets.UTF_8);
            throw new Refused(
                    Reason.UNKNOWN_SITE,
                    "site \"%s\" is not configured; configured: %s".formatted(cut ? shown + "…" : shown, configured));
        }
        return shapes;
    }

    private static @Nullable Long idOf(SiteShape shape, Headers headers) throws Refused {
        try {
            return RecordId.of(headers);
        } catch (IllegalArgumentException e) {
            throw new Refused(Reason.MALFORMED, "site %s: %s".formatted(shape.site(), e.getMessage()));
        }
    }

    private static ProducerNotes notesOf(SiteShape shape, Headers headers, int rows) throws Refused {
        try {
            return ProducerNotes.of(headers, rows);
        } catch (IllegalArgumentException e) {
            throw new Refused(Reason.MALFORMED, "site %s: %s".formatted(shape.site(), e.getMessage()));
        }
    }

    private ActivationRecord parse(SiteShape shape, byte[] value) throws Refused {
        try {
            TargetBlock block = shape.block();
            return block == null
                    ? ActivationRecord.parse(value, knownHeaders, shape.layers())
                    : ActivationBlob.parseBlock(value, knownHeaders, block);
        } catch (EmptyBatchException e) {
            throw new Refused(Reason.EMPTY_BATCH, "site %s: %s".formatted(shape.site(), e.getMessage()));
        } catch (IllegalArgumentException e) {
            throw new Refused(Reason.MALFORMED, "site %s: %s".formatted(shape.site(), e.getMessage()));
        }
    }

    private void checkRows(SiteShape shape, ActivationBlob blob) throws Refused {
        if (blob.rows() > limits.rowsPerRecord()) {
            throw new Refused(
                    Reason.TOO_MANY_ROWS,
                    "site %s: %d rows, limits.rows_per_record allows %d; no row of the batch was added"
                            .formatted(shape.site(), blob.rows(), limits.rowsPerRecord()));
        }
    }

    private static void checkWidths(SiteShape shape, ActivationBlob blob) throws Refused {
        EncodedRows targets = blob.targets();
        if (blob.activations().columns() != shape.inputWidth()) {
            throw new Refused(
                    Reason.WRONG_WIDTH,
                    "site %s: activations have %s, the explainer reads %s"
                            .formatted(shape.site(), columns(blob.activations()), Amounts.number(shape.inputWidth())));
        }
        if (!shape.transcoder()) {
            if (targets != null) {
                throw new Refused(
                        Reason.UNEXPECTED_TARGETS,
                        ("site %s: the record has targets, but the explainer is a sparse autoencoder and reconstructs "
                                        + "its own input")
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
                    "site %s: targets have %s, the explainer writes %s"
                            .formatted(shape.site(), columns(targets), Amounts.number(shape.targetWidth())));
        }
    }

    private static String columns(EncodedRows rows) {
        return Amounts.count(rows.columns(), "column");
    }

    private static void checkReconstructions(SiteShape shape, ActivationBlob blob) throws Refused {
        EncodedRows reconstructions = blob.reconstructions();
        if (reconstructions == null) {
            throw new Refused(
                    Reason.MISSING_RECONSTRUCTIONS,
                    "site %s: the site has no explainer, and the record no tensor \"reconstructions\" of %d columns"
                            .formatted(shape.site(), shape.targetWidth()));
        }
        if (reconstructions.columns() != shape.targetWidth()) {
            throw new Refused(
                    Reason.WRONG_WIDTH,
                    "site %s: reconstructions have %s, the baseline is of %s"
                            .formatted(shape.site(), columns(reconstructions), Amounts.number(shape.targetWidth())));
        }
        checkFinite(shape, "reconstructions", reconstructions);
        if (shape.features() > 0 && !blob.hasCodes()) {
            throw new Refused(
                    Reason.MISSING_CODES,
                    ("site %s: explainer_options.features = %d, and the record has no tensors \"code_indices\" and "
                                    + "\"code_values\"")
                            .formatted(shape.site(), shape.features()));
        }
    }

    private static ActivationBlob joined(SiteShape shape, ActivationBlob rows) throws Refused {
        ActivationBlob joined;
        try {
            joined = rows.joined(shape.features());
        } catch (ActivationBatchException e) {
            throw new Refused(Reason.MALFORMED, "site %s: %s".formatted(shape.site(), e.getMessage()));
        }
        // A target and its reconstruction may each be a float, and their difference beyond all of them.
        checkFinite(shape, "targets with their errors behind them, masked rows left out,", joined.targetRows());
        return joined;
    }

    private static void checkTokenIds(SiteShape shape, ActivationBlob blob) throws Refused {
        if (shape.mask().needsTokenIds() && blob.tokenIds() == null) {
            throw new Refused(
                    Reason.MISSING_TOKEN_IDS,
                    ("site %s: mask.token_ids leaves out rows by their token, "
                                    + "but the record has no tensor \"token_ids\" [%d]; no row of the batch was added")
                            .formatted(shape.site(), blob.rows()));
        }
    }

    private static void checkFinite(SiteShape shape, String tensor, EncodedRows rows) throws Refused {
        if (rows.fitFloatPanel()) {
            return; // what nearly all records do, and the cheaper question
        }
        long bad = rows.firstBeyond(LARGEST_VALUE);
        if (bad >= 0) {
            int row = (int) (bad / rows.columns());
            int column = (int) (bad % rows.columns());
            throw new Refused(
                    Reason.NON_FINITE,
                    "site %s: %s row %d, column %d is %s; no row of the batch was added"
                            .formatted(shape.site(), tensor, row, column, rows.value(row, column)));
        }
    }

    /** The record with the rows that the decoder should write as its targets. */
    private static ActivationBlob written(SiteShape shape, ActivationBlob blob) throws Refused {
        if (shape.space().isPlain()) {
            return blob;
        }
        ActivationBlob written = blob.withTargets(shape.space()
                .of(blob.activations().toMatrix(), blob.targetRows().toMatrix()));
        checkFinite(shape, "targets, " + shape.space().describe() + ",", written.targetRows());
        return written;
    }

    private static byte @Nullable [] requestOf(Headers headers) {
        Header header = headers.lastHeader("request");
        return header == null ? null : header.value();
    }

    /** Thrown for a record that cannot be used, with the reason. */
    public static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient DeadLetter deadLetter;

        Refused(Reason reason, String message) {
            this(new DeadLetter(reason, message));
        }

        /** Creates it without a stack trace, which under a flood of bad records would be most of the work. */
        Refused(DeadLetter letter) {
            super(letter.message(), null, false, false);
            this.deadLetter = letter;
        }

        public DeadLetter deadLetter() {
            return deadLetter;
        }
    }
}
