package io.plumbline.baseline;

import io.plumbline.explainer.Explainer;
import io.plumbline.features.FeatureActivityAccumulator;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.MedianNorm;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMoment;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestSample;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link Baseline} from clean batches; one batch is one whole request.
 *
 * <p>Two passes over the same requests, because a clean window is assessed against the baseline <em>without its own
 * rows</em>, which it would otherwise resemble too well, and what the others are is known only at the end: {@link #add}
 * every request, then add them again to {@link #secondPass}. Nothing is kept but sums and a bounded sample of whole
 * requests, so a baseline may be of any length. Where rows are masked by their norm there is a pass before both
 * ({@link #needsNorms}): what is long is known only from all rows. The codes of the first rows are kept as well, up to
 * a limit ({@link KeptCodes}).
 *
 * <p>A recording may hold requests twice. {@link #addContents} of every request, before all else, finds them
 * ({@link RepeatedRequests}), and every pass counts them once: a window beside its own copy would resemble it too well.
 *
 * <p><b>Size.</b> {@code 12 d(d+3)} bytes in the first pass and 48 a feature, the means of at most 4,096 requests
 * ({@code 8 d} bytes each), and {@code 4 (d_in + d_out)} for each sampled row (d_out for transcoders only): 2,048 rows
 * of width 768 are 6 MB. Not thread-safe.
 */
public final class BaselineBuilder {

    /** Rows of whole requests a baseline keeps where nothing else is asked for. */
    public static final int DEFAULT_SAMPLE_ROWS = 4_096;

    /**
     * Window sizes to calibrate for where none is asked for: a window of any number of rows from 64 on then has a
     * threshold, see {@link CalibratedSizes}.
     */
    public static final List<Integer> LADDER = List.of(128, 256, 512, 1_024, 2_048, 4_096, 8_192);

    /** Windows a recording must have of a size of the ladder: fewer promise less than the next smaller size does. */
    public static final int FEWEST_WINDOWS = 8;

    /** Rows so many times as long as the median row are masked where they rule a moment: those of attention sinks. */
    public static final double CAP_OF_MASSIVE_ROWS = 10.0;

    private static final double RULING_SHARE = 0.5;

    private final Explainer explainer;
    private final List<Integer> ranks;
    private List<Integer> rowsPerWindow;
    private boolean ladder;
    private final RequestSums whole;
    private final GroupingSums grouping;
    private final RequestMeans means = new RequestMeans();
    private final @Nullable FeatureActivityAccumulator activity;
    private final KeptCodes codes = new KeptCodes();
    private final MaskRules rules;
    private final MedianNorm norms = new MedianNorm();
    private final RepeatedRequests contents = new RepeatedRequests();
    private @Nullable BitSet repeated;
    private int readNorms;
    private int read;
    private long repeatedRows;
    private @Nullable RowMask mask;
    private MaskedRows masked = MaskedRows.NONE;
    private RequestSample sample = RequestSample.ofCapacity(DEFAULT_SAMPLE_ROWS);
    private int encodedRows;
    private WindowFigures figures = requests -> Map.of();

    private BaselineBuilder(Explainer explainer, List<Integer> ranks, List<Integer> rowsPerWindow, MaskRules rules) {
        this.explainer = explainer;
        this.encodedRows = SampledReconstruction.usualRows(explainer);
        this.ranks = List.copyOf(ranks);
        this.rowsPerWindow = List.copyOf(rowsPerWindow);
        int dimension = explainer.targetWidth();
        this.whole = new RequestSums(dimension);
        this.grouping = new GroupingSums(dimension);
        this.activity = explainer.hasCodes() ? FeatureActivityAccumulator.of(explainer.features()) : null;
        this.rules = rules;
        for (int rank : ranks) {
            if (rank < 1 || rank > dimension) {
                throw new IllegalArgumentException(
                        "rank = %d: expected 1 to %d, the dimension of the target space".formatted(rank, dimension));
            }
        }
        for (int rows : rowsPerWindow) {
            if (rows < 1) {
                throw new IllegalArgumentException("rows per window = %d: expected 1 or more".formatted(rows));
            }
        }
    }

    /**
     * Starts a baseline.
     *
     * @param ranks ranks the site may be watched at
     * @param rowsPerWindow sizes its windows will have; may be empty, then there are no clean windows and no second
     *     pass
     */
    public static BaselineBuilder of(Explainer explainer, List<Integer> ranks, List<Integer> rowsPerWindow) {
        return of(explainer, ranks, rowsPerWindow, MaskRules.NONE);
    }

    /**
     * Builds what {@link #of(Explainer, List, List)} does, without some rows.
     *
     * @param rules the rows left out of every sum, here and in the windows that will be judged
     */
    public static BaselineBuilder of(
            Explainer explainer, List<Integer> ranks, List<Integer> rowsPerWindow, MaskRules rules) {
        return new BaselineBuilder(explainer, ranks, rowsPerWindow, rules);
    }

    /**
     * Keeps another number of rows than {@link #DEFAULT_SAMPLE_ROWS}; to be said before the first {@link #add}.
     *
     * @param sampleRows at most so many rows of whole requests are kept, at least 8
     */
    public BaselineBuilder keeping(int sampleRows) {
        if (rows() > 0) {
            throw new IllegalStateException(
                    "%d rows were added already: how many are kept is said before".formatted(rows()));
        }
        sample = RequestSample.ofCapacity(sampleRows);
        return this;
    }

    /**
     * Calibrates for those sizes of {@link #LADDER} that the recording fills {@value #FEWEST_WINDOWS} times, at least
     * for the smallest that a rank allows, in place of the sizes asked for.
     */
    public BaselineBuilder onLadder() {
        ladder = true;
        return this;
    }

    private List<Integer> sizesOnLadder() {
        int smallestRank = ranks.stream().min(Integer::compare).orElse(1);
        List<Integer> possible =
                LADDER.stream().filter(size -> size >= smallestRank).toList();
        List<Integer> filled = possible.stream()
                .filter(size -> rows() >= (long) FEWEST_WINDOWS * size)
                .toList();
        return filled.isEmpty() ? possible.subList(0, Math.min(1, possible.size())) : filled;
    }

    /**
     * Measures reconstruction in clean windows on another number of rows than {@link SampledReconstruction#usualRows};
     * the windows that are judged by them are measured on as many.
     *
     * @param rowsOfWindow at most so many rows of a window are encoded, at least 2
     */
    public BaselineBuilder encoding(int rowsOfWindow) {
        if (rowsOfWindow < 2) {
            throw new IllegalArgumentException("%d encoded rows: expected 2 or more".formatted(rowsOfWindow));
        }
        encodedRows = rowsOfWindow;
        return this;
    }

    /** Measures these figures of each clean window too. */
    public BaselineBuilder measuring(WindowFigures ofWindows) {
        figures = ofWindows;
        return this;
    }

    /** Returns whether every request must go through {@link #addNorms} before the first {@link #add}. */
    public boolean needsNorms() {
        return rules.normCap() != null;
    }

    /** Takes the content of one request, before any of them is added. */
    public BaselineBuilder addContents(ActivationBatch batch) {
        contents.add(RequestSample.hash(batch));
        return this;
    }

    private BitSet repeated() {
        BitSet known = repeated;
        if (known == null) {
            known = contents.places();
            repeated = known;
        }
        return known;
    }

    /** Returns how many requests were left out because they were recorded before. */
    public int repeatedRequests() {
        return repeated().cardinality();
    }

    /** Returns how many rows of those added so far were left out because they were recorded before. */
    public long repeatedRows() {
        return repeatedRows;
    }

    /** Takes the norms of one request, where {@link #needsNorms}. */
    public BaselineBuilder addNorms(ActivationBatch batch) {
        if (repeated().get(readNorms++)) {
            return this;
        }
        addNormsOf(RowMask.of(rules.withoutNormCap(), null).apply(batch).rows());
        return this;
    }

    private void addNormsOf(@Nullable ActivationBatch batch) {
        if (batch != null) {
            norms.add(batch.targetRows());
        }
    }

    /** Returns the mask, which is known when the first request is added. */
    private RowMask mask() {
        RowMask known = mask;
        if (known == null) {
            known = RowMask.of(rules, medianNorm());
            mask = known;
        }
        return known;
    }

    private @Nullable Double medianNorm() {
        OptionalDouble median = norms.value();
        return median.isEmpty() ? null : median.getAsDouble();
    }

    /**
     * Adds one whole request, or none of it.
     *
     * @throws io.plumbline.moments.NonFiniteRowException if a value is not finite, or too large for float32
     * @throws IllegalArgumentException if a width is not the explainer's, or a transcoder's batch has no targets
     */
    public BaselineBuilder add(ActivationBatch batch) {
        if (repeated().get(read++)) {
            repeatedRows += batch.rows();
            return this;
        }
        RowMask.Kept<ActivationBatch> kept = mask().apply(batch);
        ActivationBatch rows = kept.rows();
        if (rows != null) {
            RequestSums.Encoded request = RequestSums.of(explainer, rows, activity);
            sample.add(rows);
            grouping.add(rows.targetRows(), request.sums().targets());
            means.add(request.mean(), request.targets(), request.squaredErrors());
            whole.merge(request.sums());
            if (ladder || !rowsPerWindow.isEmpty()) {
                codes.add(request.codes());
            }
        }
        if (!needsNorms()) {
            addNormsOf(rows);
        }
        masked = masked.plus(kept.masked());
        return this;
    }

    /**
     * Returns whether one eigenvalue holds more than half of the energy of what was added, and rows longer than
     * {@value #CAP_OF_MASSIVE_ROWS} times the median are there to explain it: such rows hide every other drift.
     */
    public boolean isRuledByMassiveRows() {
        OptionalDouble median = norms.value();
        if (median.isEmpty() || norms.longerThan(CAP_OF_MASSIVE_ROWS * median.getAsDouble()) == 0) {
            return false;
        }
        Matrix moment = whole.targets().snapshot().matrix();
        return ActiveSubspace.leadingOnly(moment, 1, null).eigenvalue(1) > RULING_SHARE * moment.trace();
    }

    /** Returns the rows left out so far. */
    public MaskedRows masked() {
        return masked;
    }

    /** Returns the number of rows added so far. */
    long rows() {
        return whole.targets().rows();
    }

    /**
     * Ends the first pass; the clean windows are cut in the second.
     *
     * @throws IllegalStateException if nothing was added
     */
    public CleanWindowPass secondPass() {
        if (ladder) {
            rowsPerWindow = sizesOnLadder();
        }
        CrossFit requests = CrossFit.of(means);
        return new CleanWindowPass(
                explainer, ranks, rowsPerWindow, withoutWindows(requests), requests, codes, figures, repeated());
    }

    /**
     * Returns the baseline of everything added, where no window sizes were asked for.
     *
     * @throws IllegalStateException if nothing was added, or clean windows were asked for
     */
    public Baseline build() {
        if (!rowsPerWindow.isEmpty()) {
            throw new IllegalStateException(
                    "clean windows of %s rows were asked for: they are cut in a second pass".formatted(rowsPerWindow));
        }
        return withoutWindows(CrossFit.of(means));
    }

    private Baseline withoutWindows(@Nullable CrossFit requests) {
        if (rows() == 0) {
            throw new IllegalStateException("a baseline of no rows: add clean activations first");
        }
        SecondMoment moment = whole.targets().snapshot();
        return new Baseline(
                explainer.decoder().sha256(),
                moment,
                whole.reconstructions().snapshot().matrix(),
                whole.fvu(),
                grouping.of(moment),
                List.of(),
                new Masking(rules, medianNorm()),
                sample.rows(),
                encodedRows,
                requests == null ? null : requests.model(),
                requests == null ? null : KeptGroups.of(requests, means.kept()),
                activity == null ? null : activity.snapshot(),
                List.of(),
                null);
    }
}
