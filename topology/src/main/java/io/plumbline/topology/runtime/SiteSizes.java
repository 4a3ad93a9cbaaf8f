package io.plumbline.topology.runtime;

import io.plumbline.baseline.Baseline;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.records.GivenCodes;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.WaitingRequests;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.panes.EngineRequests;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of one site, in bytes where nothing else is said.
 *
 * @param id the site; the blocks of a configured one share encoder and decoder
 * @param pooledRows the most rows that the adapter pools
 * @param requestComponents directions along which requests are totalled; 0: they are not
 * @param wholeRequests requests of a window that are kept whole; 0 where no rest of a model is run
 * @param judged whether refits are judged by that
 * @param candidate the shape of the explainer that may take the place of the site's; null: none
 * @param comparesEngines whether rows are kept by the engine that served them
 * @param allDirections whether every direction of the dictionary is held, and not the leading ones alone
 */
record SiteSizes(
        SiteId id,
        ExplainerShape shape,
        int rank,
        boolean adapts,
        int pooledRows,
        int requestComponents,
        int wholeRequests,
        boolean judged,
        @Nullable ExplainerShape candidate,
        boolean comparesEngines,
        boolean allDirections) {

    /** Rows that a whole request is taken to have; how many it has nobody knows before it comes. */
    static final int ROWS_OF_A_REQUEST = 512;

    /**
     * The size of a stored sample in samples: a store holds the rows that came since the sample was last written whole,
     * at most three times the sample.
     */
    private static final double STORED_SAMPLE = 2.0;

    /** The size of stored totals in totals: a store holds at most twice the requests that are kept, and a few more. */
    private static final double STORED_TOTALS = 1.5;

    /**
     * The bytes of a request's name, as an object; 20 characters of it, which is what it has on its way, beside its
     * numbers.
     */
    private static final int NAME_OVERHEAD = 64;

    private static final int ENCODED_REQUEST = 25 + 20;
    private static final int SAMPLED_ROW_HEADER = 16;
    private static final int SENT_ROW_HEADER = 24;

    /**
     * The bytes of the objects around a sampled row: its record, array, tree entry, key, and its hash among the stored
     * ones.
     */
    private static final int ROW_OVERHEAD = 136;

    /** Returns the shape of a site. Without an explainer each row is summed with its error behind it. */
    private static ExplainerShape shape(SiteSettings settings) throws IOException {
        if (settings.explained().hasExplainer()) {
            return Formats.shape(
                    settings.explained().explainer(), settings.explained().options());
        }
        int dimension = Baseline.dimension(settings.explained().baseline());
        boolean codes =
                GivenReconstructions.of(1, settings.explained().options()).hasCodes();
        return new ExplainerShape(
                2 * dimension + (codes ? GivenCodes.WIDTH : 0), 2 * dimension, dimension, codes, dimension, true);
    }

    private static @Nullable ExplainerShape candidate(SiteSettings settings) throws IOException {
        SiteSettings.Candidate candidate = settings.explained().candidate();
        return candidate == null ? null : Formats.shape(candidate.explainer(), candidate.options());
    }

    /** Returns the sizes of a site, or nothing where its files cannot be read: {@link ConfigCheck} names those. */
    static Optional<SiteSizes> of(
            SiteSettings settings, @Nullable AdaptationSettings adaptation, int requestComponents) {
        DownstreamSettings downstream = settings.downstream();
        try {
            if (!Files.exists(
                    settings.explained().hasExplainer()
                            ? settings.explained().explainer()
                            : settings.explained().baseline())) {
                return Optional.empty();
            }
            ExplainerShape shape = shape(settings);
            return Optional.of(new SiteSizes(
                    settings.id(),
                    shape,
                    settings.explained().rank(),
                    settings.refits().adapts(),
                    adaptation == null ? 0 : adaptation.pooledRows(),
                    requestComponents,
                    downstream == null ? 0 : downstream.requests(),
                    downstream != null && downstream.gate(),
                    candidate(settings),
                    EngineRequests.header(
                                    settings.breakdownBy(), settings.explained().hasExplainer())
                            != null,
                    adaptation != null && adaptation.profile().takesAllDirections(shape.targetWidth())));
        } catch (IOException | IllegalArgumentException unreadable) {
            return Optional.empty();
        }
    }

    /** Returns how many directions requests are totalled along; 0 where the baseline cannot be read. */
    static int requestComponents(SiteSettings site) {
        try {
            return Files.exists(site.explained().baseline())
                    ? Baseline.requestComponents(site.explained().baseline())
                    : 0;
        } catch (IOException | IllegalArgumentException unreadable) {
            return 0;
        }
    }

    /** Returns the bytes of the request totals as they are held where windows are composed. */
    double totals() {
        return requestComponents == 0
                ? 0
                : (double) RequestTotals.DEFAULT_CAPACITY
                        * (8.0 * requestComponents + RequestTotals.ENTRY_OVERHEAD + NAME_OVERHEAD);
    }

    /** Returns the bytes of the request totals as they are stored once and sent. */
    double encodedTotals() {
        return requestComponents == 0
                ? 0
                : (double) RequestTotals.DEFAULT_CAPACITY * (8.0 * requestComponents + ENCODED_REQUEST);
    }

    /** Returns the bytes of sums that wait to be projected. */
    double waitingRequests() {
        return requestComponents == 0 ? 0 : WaitingRequests.bytes(shape.targetWidth());
    }

    /** Returns the bytes of the whole requests of a pane, as float32; a transcoder's have their residual stream too. */
    double whole() {
        int values = sampledValues() + (shape.transcoder() ? shape.targetWidth() : 0);
        return 4.0 * values * ROWS_OF_A_REQUEST * wholeRequests;
    }

    /** Returns the bytes of the rows of a pane that are kept of two engines. */
    double engines() {
        return comparesEngines
                ? 2.0 * EngineRequests.REQUESTS * EngineRequests.ROWS * Float.BYTES * sampledValues()
                : 0;
    }

    /** Returns the bytes of the encoder's weights in an array of their own. */
    double encoder(HeapRegion region) {
        return encoder(shape, region);
    }

    private static double encoder(ExplainerShape of, HeapRegion region) {
        return region.array((double) of.encoderWeights(), of.encoderWeightBytes());
    }

    double decoder(HeapRegion region) {
        return decoder(shape, region);
    }

    private static double decoder(ExplainerShape of, HeapRegion region) {
        return region.array((double) of.features() * of.targetWidth(), of.decoderWeightBytes());
    }

    /** Returns the bytes of the explainer that is measured beside the site's. */
    double candidate(HeapRegion region) {
        return candidate == null ? 0 : encoder(candidate, region) + decoder(candidate, region);
    }

    /** Returns the bytes of a decoder of that one. */
    double candidateDecoder(HeapRegion region) {
        return candidate == null ? 0 : decoder(candidate, region);
    }

    double moment() {
        return 8.0 * MomentTile.stateLength(shape.targetWidth());
    }

    int sampledValues() {
        return shape.transcoder() ? shape.inputWidth() + shape.targetWidth() : shape.targetWidth();
    }

    double sampledRow() {
        return 4.0 * sampledValues();
    }

    /** Returns how many values the directions of the dictionary have. */
    double directions() {
        return allDirections || !ExplainerSubspace.isLeadingEnough(rank, shape.targetWidth())
                ? squared()
                : (double) shape.targetWidth() * rank;
    }

    double squared() {
        return (double) shape.targetWidth() * shape.targetWidth();
    }

    /** Returns the bytes of a sampled row as an object. */
    double heldRow() {
        return sampledRow() + ROW_OVERHEAD;
    }

    /** Returns the bytes of a sampled row in a store or a pane on its way. */
    double storedRow() {
        return sampledRow() + SAMPLED_ROW_HEADER;
    }

    /** Returns the bytes of a sampled row on its way to the adapter. */
    double sentRow() {
        return sampledRow() + SENT_ROW_HEADER;
    }

    /** Returns the bytes of a pane in a store. */
    double storedPane(int sampleRows) {
        return moment() + STORED_SAMPLE * sampleRows * storedRow() + STORED_TOTALS * encodedTotals();
    }
}
