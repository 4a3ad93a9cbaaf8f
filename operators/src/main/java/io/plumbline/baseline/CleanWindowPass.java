package io.plumbline.baseline;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.parallel.Cores;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestSample;
import io.plumbline.requests.RequestTotals;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The second pass of a {@link BaselineBuilder}: cuts clean windows out of whole requests and keeps their statistics.
 *
 * <p>For every size asked for, requests are collected until at least that many rows came, too long ones counted, so
 * that all sites of a recording have the same windows; a window is then assessed against the baseline without it, in
 * second moment and reconstructions, its requests scored by a model they had no part in and ranked among the others,
 * and forgotten. The unfinished last one is no clean window.
 *
 * <p>Full windows wait until there are some for each core, and are then assessed beside each other: a product of narrow
 * matrices is too small to be shared. They are kept in the order in which they became full, so that the file is the
 * same for any number of cores.
 *
 * <p><b>Size.</b> {@code 8 d(d+3)} bytes and a {@link SampledReconstruction} per window size and for each window that
 * waits ({@value #MOST_WAITING_BYTES} bytes of sums at most, or one window), whatever the number of windows, and a
 * {@link SiteGeometry} per rank. <b>Cost.</b> Three leading eigenspaces and a Cholesky factorisation of d x d matrices
 * per window and rank; below d = 300, full decompositions. Not thread-safe.
 */
public final class CleanWindowPass {

    /** A window that is being filled. */
    private static final class Window {
        private final RequestSums sums;
        private final SampledReconstruction sampled;
        private final List<RequestScore> requests = new ArrayList<>();
        private final Map<Long, Integer> numbers = new HashMap<>();
        private final List<Integer> places = new ArrayList<>();
        private long came;
        private long identity;

        Window(int dimension, int encodedRows) {
            sums = new RequestSums(dimension);
            sampled = SampledReconstruction.ofCapacity(encodedRows);
        }

        /** Counts what is the same at every site of a recording: which rows are too long is not. */
        void count(int place, ActivationBatch batch, MaskedRows masked) {
            came += batch.rows() - masked.byToken();
            long request = RowSample.hash(RowSample.hash(place, batch.rows()), Arrays.hashCode(batch.tokenIds()));
            identity = RowSample.hash(identity ^ request, place);
        }

        boolean isFull(int size) {
            return came >= size && sums.targets().rows() > 0;
        }

        /** Returns the identity as a number that a double holds exactly. */
        double identity() {
            return identity >>> (Long.SIZE - IDENTITY_BITS);
        }
    }

    /** A window that is full. */
    private record FullWindow(int size, Window window, Map<Statistic, Double> further) {}

    private static final int IDENTITY_BITS = 52;

    /** Sums of windows that may wait, in bytes: at d = 1,024 those of some, from 2,048 on of one. */
    private static final long MOST_WAITING_BYTES = 64L << 20;

    /** Windows a core: the last ones of a turn leave others idle. */
    private static final long WINDOWS_A_CORE = 4;

    private final Explainer explainer;
    private final Baseline whole;
    private final @Nullable CrossFit crossFit;
    private final KeptCodes codes;
    private final WindowFigures figures;
    private final BitSet repeated;
    private final RowMask mask;
    private final List<SiteGeometry> geometries = new ArrayList<>();
    private final Map<Integer, Window> open = new LinkedHashMap<>();
    private final Map<List<Integer>, Map<String, List<Double>>> values = new LinkedHashMap<>();
    private final List<FullWindow> full = new ArrayList<>();
    private final int mostWaiting;
    private long rows;
    private int requests;
    private int read;

    CleanWindowPass(
            Explainer explainer,
            List<Integer> ranks,
            List<Integer> rowsPerWindow,
            Baseline whole,
            @Nullable CrossFit crossFit,
            KeptCodes codes,
            WindowFigures figures,
            BitSet repeated) {
        this.explainer = explainer;
        this.whole = whole;
        this.crossFit = crossFit;
        this.codes = codes;
        this.figures = figures;
        this.repeated = repeated;
        this.mask = whole.masking().mask();
        for (int rank : ranks) {
            geometries.add(SiteGeometry.of(explainer, whole.moment(), whole.reconstructionMoment(), rank));
            rowsPerWindow.forEach(size -> values.put(List.of(rank, size), new LinkedHashMap<>()));
        }
        rowsPerWindow.forEach(size -> open.put(size, newWindow()));
        long dimension = explainer.targetWidth();
        long bytes = Double.BYTES * dimension * (dimension + 3);
        mostWaiting = (int) Math.max(1, Math.min(MOST_WAITING_BYTES / bytes, WINDOWS_A_CORE * Cores.threads()));
    }

    /** Adds the next request, the same and in the same order as in the first pass. */
    public CleanWindowPass add(ActivationBatch batch) {
        int place = read++;
        if (repeated.get(place)) {
            return this;
        }
        RowMask.Kept<ActivationBatch> masked = mask.apply(batch);
        open.values().forEach(window -> window.count(place, batch, masked.masked()));
        ActivationBatch kept = masked.rows();
        if (kept != null) {
            merge(kept, place);
        }
        open.replaceAll((size, window) -> {
            if (!window.isFull(size)) {
                return window;
            }
            full.add(new FullWindow(size, window, figures.of(window.places)));
            return newWindow();
        });
        if (full.size() >= mostWaiting) {
            assessFull();
        }
        return this;
    }

    private void merge(ActivationBatch kept, int place) {
        int number = requests++;
        List<SparseCodes> known = codes.of(number, kept.rows());
        RequestSums.Encoded request =
                known == null ? RequestSums.of(explainer, kept) : RequestSums.ofCodes(explainer, kept, known);
        // Two requests of equal contents are two, unless the recording itself repeats.
        long hash = RowSample.hash(RequestSample.hash(kept), number);
        RequestScore score = crossFit == null ? null : crossFit.scoreMean(hash, number, kept);
        rows += kept.rows();
        for (Window window : open.values()) {
            window.sums.merge(request.sums());
            window.places.add(place);
            window.sampled.add(hash, request.targets(), request.squaredErrors());
            if (score != null) {
                window.requests.add(score);
                window.numbers.put(hash, number);
            }
        }
    }

    private Window newWindow() {
        return new Window(explainer.targetWidth(), whole.encodedRows());
    }

    /**
     * Returns the baseline with its clean windows.
     *
     * @throws IllegalStateException if the two passes were over different numbers of rows
     */
    public Baseline build() {
        if (rows != whole.rowCount()) {
            throw new IllegalStateException(
                    "the second pass read %d rows, the first %d: clean windows must be of the baseline"
                            .formatted(rows, whole.rowCount()));
        }
        assessFull();
        List<NullSample> samples = new ArrayList<>();
        if (values.values().stream().anyMatch(series -> !series.isEmpty())) {
            values.forEach((key, series) -> samples.add(new NullSample(key.get(0), key.get(1), arrays(series))));
        }
        return new Baseline(
                whole.explainerSha256(),
                whole.moment(),
                whole.reconstructionMoment(),
                whole.reconstructionFvu(),
                whole.grouping(),
                samples,
                whole.masking(),
                whole.rows(),
                whole.encodedRows(),
                whole.requests(),
                whole.groups(),
                whole.activity(),
                whole.wholeRequests(),
                null);
    }

    /** Assesses the windows that wait, on all cores, and keeps what they say in their order. */
    private void assessFull() {
        List<List<GapAssessment>> assessed = new ArrayList<>(Collections.nCopies(full.size(), List.of()));
        Cores.each(
                full.size(), place -> assessed.set(place, assess(full.get(place).window())));
        for (int place = 0; place < full.size(); place++) {
            keep(full.get(place), assessed.get(place));
        }
        full.clear();
    }

    /** Returns what a window is like at each rank; nothing where it is all of the baseline. */
    private List<GapAssessment> assess(Window window) {
        SecondMoment own = window.sums.targets().snapshot();
        long otherRows = whole.rowCount() - own.rows();
        if (otherRows <= 0) {
            return List.of();
        }
        SecondMoment others = whole.moment().minus(own);
        Matrix otherReconstructions = without(window.sums.reconstructions().snapshot(), otherRows);
        EncodedErrors errors = window.sampled.errors();
        WindowRequests scored = requests(window, errors);
        List<GapAssessment> assessments = new ArrayList<>();
        for (SiteGeometry geometry : geometries) {
            GapAssessment assessment = assess(geometry.withBaseline(others, otherReconstructions), own, window)
                    .with(Statistic.RECONSTRUCTION_FVU_TRAINED, fvu(window, errors))
                    .with(Statistic.RECONSTRUCTION_ERROR, errors.energy());
            assessments.add(scored.addTo(assessment));
        }
        return assessments;
    }

    private void keep(FullWindow one, List<GapAssessment> assessments) {
        double ownRows = one.window().sums.targets().rows();
        for (int at = 0; at < assessments.size(); at++) {
            Map<String, List<Double>> series = values.computeIfAbsent(
                    List.of(geometries.get(at).rank(), one.size()), key -> new LinkedHashMap<>());
            assessments.get(at).statistics().forEach((name, value) -> append(series, name, value));
            one.further().forEach((statistic, value) -> append(series, statistic.label(), value));
            append(series, NullSample.IDENTITY, one.window().identity());
            append(series, NullSample.ROWS, ownRows);
            int windows = series.getOrDefault(NullSample.ROWS, List.of()).size();
            series.values().forEach(values -> {
                while (values.size() < windows) {
                    values.add(Double.NaN);
                }
            });
        }
    }

    private GapAssessment assess(SiteGeometry geometry, SecondMoment own, Window window) {
        return explainer.isGiven()
                ? geometry.assess(
                        own,
                        geometry.activeSubspace(own),
                        window.sums.reconstructions().snapshot().matrix())
                : geometry.assess(own);
    }

    /** Returns FVU over all rows where reconstructions are given, else over those that are encoded. */
    private @Nullable Double fvu(Window window, EncodedErrors sampled) {
        if (!explainer.isGiven()) {
            return sampled.fvu();
        }
        double fvu = window.sums.fvu();
        return Double.isFinite(fvu) ? fvu : null;
    }

    /** Returns what a live window of so many requests would have: the scores of those it keeps. */
    private WindowRequests requests(Window window, EncodedErrors errors) {
        if (crossFit == null) {
            return WindowRequests.of(null, null, List.of());
        }
        List<RequestScore> scores = window.requests;
        List<RequestScore> kept = scores.size() <= RequestTotals.DEFAULT_CAPACITY
                ? scores
                : scores.stream()
                        .sorted(Comparator.comparingLong(RequestScore::request))
                        .limit(RequestTotals.DEFAULT_CAPACITY)
                        .toList();
        return WindowRequests.ofScored(crossFit.model(), kept, crossFit.scoreErrors(errors.requests(), window.numbers));
    }

    /** Returns the reconstruction moment of all rows but these. */
    private Matrix without(SecondMoment reconstructions, long otherRows) {
        Matrix all = whole.reconstructionMoment();
        Matrix own = reconstructions.matrix();
        Matrix others = Matrix.zeros(all.rows(), all.columns());
        double share = (double) reconstructions.rows() / otherRows;
        for (int i = 0; i < others.values().length; i++) {
            others.values()[i] = all.values()[i] + share * (all.values()[i] - own.values()[i]);
        }
        return others;
    }

    private static Map<String, double[]> arrays(Map<String, List<Double>> series) {
        Map<String, double[]> arrays = new LinkedHashMap<>();
        series.forEach((name, list) ->
                arrays.put(name, list.stream().mapToDouble(Double::doubleValue).toArray()));
        return arrays;
    }

    private static void append(Map<String, List<Double>> series, String name, double value) {
        if (Double.isFinite(value)) {
            List<Double> values = series.computeIfAbsent(name, key -> new ArrayList<>());
            // Windows before this one in which it was undefined.
            int before = series.getOrDefault(NullSample.ROWS, List.of()).size();
            while (values.size() < before) {
                values.add(Double.NaN);
            }
            values.add(value);
        }
    }
}
