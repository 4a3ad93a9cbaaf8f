package io.plumbline.calibration;

import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.NonFiniteRowException;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.wire.ActivationBatch;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds a {@link Baseline} from clean batches in one pass; one batch is one whole request.
 *
 * <p>For every window size asked for, whole requests are collected until a window has at least that many rows; the unfinished
 * last window counts for the baseline but not as a clean window. At the end each window is assessed against the baseline
 * <em>without its own rows</em>, which it would otherwise resemble too well: without them in the second moment, and without
 * their reconstructions in the reconstruction moment.
 *
 * <p><b>Size.</b> Window moments stay in memory, twice {@code 4 d(d+3)} bytes each (targets and reconstructions): 1.2 MB at
 * d = 384, so 40 windows take 47 MB; 4.7 MB each at d = 768. Rows are not kept. <b>Cost</b> of {@link #build}: four
 * eigendecompositions of d x d per window and rank. Not thread-safe.
 */
public final class BaselineBuilder {

    /** Name of the one statistic that comes from codes instead of moments. */
    public static final String RECONSTRUCTION_FVU = "reconstruction_fvu";

    private static final int LARGEST_BATCH = 4_096;

    private final Explainer explainer;
    private final List<Integer> ranks;
    private final Part whole;
    private final Map<Integer, Windows> windowsBySize = new LinkedHashMap<>();

    /** Sums over some rows. */
    private static final class Part {
        private final SecondMomentAccumulator targets;
        private final SecondMomentAccumulator reconstructions;
        private final ReconstructionSums errors = new ReconstructionSums();

        private Part(int dimension) {
            targets = SecondMomentAccumulator.ofDimension(dimension);
            reconstructions = SecondMomentAccumulator.ofDimension(dimension);
        }

        private void merge(Part other) {
            targets.merge(other.targets);
            reconstructions.merge(other.reconstructions);
            errors.merge(other.errors);
        }
    }

    private static final class Windows {
        private final List<Part> full = new ArrayList<>();
        private Part open;

        private Windows(int dimension) {
            open = new Part(dimension);
        }
    }

    private BaselineBuilder(Explainer explainer, List<Integer> ranks, List<Integer> rowsPerWindow) {
        this.explainer = explainer;
        this.ranks = List.copyOf(ranks);
        int dimension = explainer.targetWidth();
        this.whole = new Part(dimension);
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
            windowsBySize.put(rows, new Windows(dimension));
        }
    }

    /**
     * Starts a baseline.
     *
     * @param ranks ranks the site may be watched at
     * @param rowsPerWindow sizes its windows will have; may be empty, then there is nothing to take quantiles of
     */
    public static BaselineBuilder of(Explainer explainer, List<Integer> ranks, List<Integer> rowsPerWindow) {
        return new BaselineBuilder(explainer, ranks, rowsPerWindow);
    }

    /**
     * Adds one whole request, or none of it.
     *
     * @throws NonFiniteRowException if a value is not finite
     * @throws IllegalArgumentException if a width is not the explainer's, or a transcoder's batch has no targets
     */
    public BaselineBuilder add(ActivationBatch batch) {
        requireFitting(batch);
        Part request = new Part(explainer.targetWidth());
        Matrix targets = batch.targetRows();
        request.targets.add(targets);
        for (int from = 0; from < batch.rows(); from += LARGEST_BATCH) {
            int to = Math.min(from + LARGEST_BATCH, batch.rows());
            Matrix reconstruction = explainer
                    .decoder()
                    .reconstruct(explainer.encoder().encode(batch.activations().rowRange(from, to)));
            request.reconstructions.add(reconstruction);
            request.errors.add(targets.rowRange(from, to), reconstruction);
        }
        whole.merge(request);
        windowsBySize.forEach((rows, windows) -> {
            windows.open.merge(request);
            if (windows.open.targets.rows() >= rows) {
                windows.full.add(windows.open);
                windows.open = new Part(explainer.targetWidth());
            }
        });
        return this;
    }

    /** Rows added so far. */
    public long rows() {
        return whole.targets.rows();
    }

    /**
     * The baseline of everything added.
     *
     * @throws IllegalStateException if nothing was added
     */
    public Baseline build() {
        if (rows() == 0) {
            throw new IllegalStateException("a baseline of no rows: add clean activations first");
        }
        SecondMoment moment = whole.targets.snapshot();
        SecondMoment reconstructions = whole.reconstructions.snapshot();
        List<NullSample> samples = new ArrayList<>();
        if (windowsBySize.values().stream().anyMatch(windows -> !windows.full.isEmpty())) {
            for (int rank : ranks) {
                SiteGeometry geometry = SiteGeometry.of(explainer.decoder(), moment, reconstructions.matrix(), rank);
                windowsBySize.forEach((rows, windows) -> samples.add(
                        new NullSample(rank, rows, statistics(geometry, moment, reconstructions, windows.full))));
            }
        }
        return new Baseline(
                explainer.decoder().sha256(), moment, reconstructions.matrix(), whole.errors.fvu(moment), samples);
    }

    private static Map<String, double[]> statistics(
            SiteGeometry geometry, SecondMoment moment, SecondMoment reconstructions, List<Part> windows) {
        Map<String, List<Double>> values = new LinkedHashMap<>();
        for (Part window : windows) {
            SecondMoment own = window.targets.snapshot();
            SecondMoment others = moment.minus(own);
            if (others.rows() == 0) {
                // The only window is the whole baseline: nothing to compare it with.
                continue;
            }
            SecondMoment otherReconstructions = reconstructions.minus(window.reconstructions.snapshot());
            GapAssessment assessment =
                    geometry.withBaseline(others, otherReconstructions.matrix()).assess(own);
            assessment.statistics().forEach((name, value) -> append(values, name, value));
            append(values, RECONSTRUCTION_FVU, window.errors.fvu(own));
            append(values, NullSample.ROWS, (double) own.rows());
        }
        Map<String, double[]> statistics = new LinkedHashMap<>();
        values.forEach((name, list) -> statistics.put(
                name, list.stream().mapToDouble(Double::doubleValue).toArray()));
        return statistics;
    }

    private static void append(Map<String, List<Double>> values, String name, double value) {
        if (Double.isFinite(value)) {
            values.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
        }
    }

    private void requireFitting(ActivationBatch batch) {
        if (explainer.isTranscoder() && batch.targets() == null) {
            throw new IllegalArgumentException(
                    "the batch has no tensor \"targets\": a transcoder is judged on the output of its layer; the batch was not added");
        }
        requireWidth("activations", batch.activations().columns(), explainer.inputWidth());
        requireWidth("targets", batch.targetRows().columns(), explainer.targetWidth());
    }

    private static void requireWidth(String what, int actual, int expected) {
        if (actual != expected) {
            throw new IllegalArgumentException("%s of width %d: the explainer has width %d; the batch was not added"
                    .formatted(what, actual, expected));
        }
    }
}
