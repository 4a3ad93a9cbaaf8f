package io.plumbline.calibration;

import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMoment;
import io.plumbline.wire.ActivationBatch;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The second pass of a {@link BaselineBuilder}: cuts clean windows out of whole requests and keeps their statistics.
 *
 * <p>For every size asked for, requests are collected until a window has at least that many rows; it is then assessed against
 * the baseline without it, in second moment and reconstructions, and forgotten. The unfinished last one is no clean window.
 *
 * <p><b>Size.</b> {@code 8 d(d+3)} bytes per window size and {@link SampledReconstruction#ROWS} rows, whatever the number of windows, and a {@link SiteGeometry} per rank.
 * <b>Cost.</b> Four eigendecompositions of d x d per window and rank. Not thread-safe.
 */
public final class CleanWindowPass {

    /** A window that is being filled. */
    private record Window(RequestSums sums, SampledReconstruction sampled) {
        Window(int dimension) {
            this(new RequestSums(dimension), new SampledReconstruction());
        }
    }

    private final Explainer explainer;
    private final Baseline whole;
    private final RowMask mask;
    private final List<SiteGeometry> geometries = new ArrayList<>();
    private final Map<Integer, Window> open = new LinkedHashMap<>();
    private final Map<List<Integer>, Map<String, List<Double>>> values = new LinkedHashMap<>();
    private long rows;

    CleanWindowPass(Explainer explainer, List<Integer> ranks, List<Integer> rowsPerWindow, Baseline whole) {
        this.explainer = explainer;
        this.whole = whole;
        this.mask = whole.masking().mask();
        for (int rank : ranks) {
            geometries.add(SiteGeometry.of(explainer.decoder(), whole.moment(), whole.reconstructionMoment(), rank));
            rowsPerWindow.forEach(size -> values.put(List.of(rank, size), new LinkedHashMap<>()));
        }
        rowsPerWindow.forEach(size -> open.put(size, new Window(explainer.targetWidth())));
    }

    /** Adds the next request, the same and in the same order as in the first pass. */
    public CleanWindowPass add(ActivationBatch batch) {
        ActivationBatch kept = mask.apply(batch).rows();
        if (kept == null) {
            return this;
        }
        RequestSums request = RequestSums.of(explainer, kept);
        rows += kept.rows();
        open.replaceAll((size, window) -> {
            window.sums().merge(request);
            window.sampled().add(kept);
            if (window.sums().targets().rows() < size) {
                return window;
            }
            assess(size, window.sums(), window.sampled().fvu(explainer));
            return new Window(explainer.targetWidth());
        });
        return this;
    }

    /**
     * The baseline with its clean windows.
     *
     * @throws IllegalStateException if the two passes were over different numbers of rows
     */
    public Baseline build() {
        if (rows != whole.rowCount()) {
            throw new IllegalStateException(
                    "the second pass read %d rows, the first %d: clean windows must be of the baseline"
                            .formatted(rows, whole.rowCount()));
        }
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
                null);
    }

    private void assess(int size, RequestSums window, @Nullable Double fvu) {
        SecondMoment own = window.targets().snapshot();
        long otherRows = whole.rowCount() - own.rows();
        if (otherRows <= 0) {
            // The only window is the whole baseline: nothing to compare it with.
            return;
        }
        SecondMoment others = whole.moment().minus(own);
        Matrix otherReconstructions = without(window.reconstructions().snapshot(), otherRows);
        for (SiteGeometry geometry : geometries) {
            Map<String, List<Double>> series =
                    values.computeIfAbsent(List.of(geometry.rank(), size), key -> new LinkedHashMap<>());
            geometry.withBaseline(others, otherReconstructions)
                    .assess(own)
                    .with(Statistic.RECONSTRUCTION_FVU_TRAINED, fvu)
                    .statistics()
                    .forEach((name, value) -> append(series, name, value));
            append(series, NullSample.ROWS, (double) own.rows());
            int windows = series.getOrDefault(NullSample.ROWS, List.of()).size();
            series.values().forEach(values -> {
                while (values.size() < windows) {
                    values.add(Double.NaN);
                }
            });
        }
    }

    /** The reconstruction moment of all rows but these. */
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
