package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.calibration.CleanWindowPass;
import io.plumbline.calibration.DriftJudge;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.DriftState;
import io.plumbline.calibration.DriftVerdict;
import io.plumbline.calibration.RecordedWindow;
import io.plumbline.calibration.Threshold;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.Safetensors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.math3.special.Beta;
import org.apache.commons.math3.util.CombinatoricsUtils;

/**
 * The first 64 hidden units of the toy network, their autoencoder cut to those units, and requests of 32 rows whose z
 * follows {@code z_t = rho z_(t-1) + sqrt(1 - rho^2) e_t} within a request: the same distribution of single rows for
 * every rho.
 */
final class HeldOutStream {

    static final int WIDTH = 64;
    static final int REQUEST = 32;
    static final int WINDOW = 128;
    /** More rows than the reconstruction is measured on: there it is a sample, and another one in every window. */
    static final int LARGE_WINDOW = 512;

    private static final int ENCODED_ROWS = 256;

    static final List<String> STATISTICS = Arrays.stream(Statistic.values())
            .filter(Statistic::measuresDrift)
            .map(Statistic::label)
            .toList();

    private static final int CHUNK = 4_096;

    private final ToyStream toy = ToyStream.load();
    private final Explainer explainer = explainer();
    private final double correlation;
    private final int window;

    HeldOutStream(double correlation) {
        this(correlation, WINDOW);
    }

    HeldOutStream(double correlation, int window) {
        this.correlation = correlation;
        this.window = window;
    }

    /** The requests of so many windows. */
    List<ActivationBatch> requests(long stream, int windows, int severity) {
        List<ActivationBatch> requests = new ArrayList<>();
        windows(stream, windows, severity).forEach(rows -> requests.addAll(requests(rows)));
        return requests;
    }

    Explainer watched() {
        return explainer;
    }

    /** A baseline of so many clean windows. */
    Baseline calibrated(long stream, int windows) {
        List<ActivationBatch> requests = requests(stream, windows, 0);
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(ToyStream.RANK), List.of(window))
                .encoding(ENCODED_ROWS);
        requests.forEach(builder::add);
        CleanWindowPass pass = builder.secondPass();
        requests.forEach(pass::add);
        return pass.build();
    }

    /** The geometry of windows that had no part in the baseline. */
    List<GapAssessment> heldOut(Baseline baseline, long stream, int windows, int severity) {
        SiteGeometry geometry = SiteGeometry.of(
                explainer.decoder(), baseline.moment(), baseline.reconstructionMoment(), ToyStream.RANK);
        return windows(stream, windows, severity).stream()
                .map(rows -> requestsOf(baseline, rows).addTo(geometry.assess(SecondMoment.of(rows))))
                .toList();
    }

    private RecordedWindow requestsOf(Baseline baseline, Matrix rows) {
        RecordedWindow window = new RecordedWindow(baseline);
        requests(rows)
                .forEach(request -> window.add(
                        request,
                        explainer.decoder().reconstruct(explainer.encoder().encode(request.activations()))));
        return window;
    }

    private static List<ActivationBatch> requests(Matrix rows) {
        List<ActivationBatch> requests = new ArrayList<>();
        for (int row = 0; row < rows.rows(); row += REQUEST) {
            requests.add(new ActivationBatch(rows.rowRange(row, row + REQUEST), null, null));
        }
        return requests;
    }

    /** How many windows each statistic calls drifted, every window for itself. */
    static Map<String, Integer> alarms(Baseline baseline, Threshold threshold, List<GapAssessment> windows) {
        Map<String, Integer> alarms = new LinkedHashMap<>();
        for (String statistic : STATISTICS) {
            alarms.put(statistic, alarms(baseline, List.of(statistic), threshold, windows));
        }
        return alarms;
    }

    /** How many windows several statistics call drifted that are judged as one. */
    static int alarms(Baseline baseline, List<String> together, Threshold threshold, List<GapAssessment> windows) {
        DriftJudge judge = new DriftJudge(baseline, together, threshold, threshold, DriftPolicy.immediate(), 1);
        int drifted = 0;
        for (GapAssessment window : windows) {
            DriftVerdict verdict = judge.judge(DriftState.INITIAL, window).verdict();
            assertTrue(!(verdict instanceof DriftVerdict.Undecided), () -> verdict.reason(together.get(0)));
            drifted += verdict instanceof DriftVerdict.Drifted ? 1 : 0;
        }
        return drifted;
    }

    /**
     * The chance of {@code alarms} or more of {@code windows} above the {@code fromTop}-th largest of {@code clean}
     * values, all independent: binomial given the clean values, beta-binomial over them.
     */
    static double chanceOfAsMany(int alarms, int windows, int clean, int fromTop) {
        double chance = 0.0;
        for (int i = alarms; i <= windows; i++) {
            chance += Math.exp(CombinatoricsUtils.binomialCoefficientLog(windows, i)
                    + Beta.logBeta(fromTop + i, clean + 1.0 - fromTop + windows - i)
                    - Beta.logBeta(fromTop, clean + 1.0 - fromTop));
        }
        return chance;
    }

    private List<Matrix> windows(long stream, int count, int severity) {
        List<Matrix> windows = new ArrayList<>();
        int rows = count * window;
        for (int from = 0; from < rows; from += CHUNK) {
            int chunk = Math.min(CHUNK, rows - from);
            Matrix normals = correlated(NormalStream.rows(stream, from, chunk, ToyStream.INPUT_WIDTH));
            Matrix hidden = toy.forward(normals, severity).hidden();
            for (int row = 0; row < chunk; row += window) {
                windows.add(firstColumns(hidden.rowRange(row, row + window)));
            }
        }
        return windows;
    }

    private Matrix correlated(Matrix normals) {
        int width = normals.columns();
        double[] values = normals.values();
        double fresh = Math.sqrt(1.0 - correlation * correlation);
        for (int row = 0; row < normals.rows(); row++) {
            if (row % REQUEST != 0) {
                for (int j = 0; j < width; j++) {
                    values[row * width + j] =
                            correlation * values[(row - 1) * width + j] + fresh * values[row * width + j];
                }
            }
        }
        return normals;
    }

    private static Explainer explainer() {
        Safetensors file = ToyResources.safetensors("sae_k1024.safetensors");
        Matrix encoder = firstColumns(file.tensor("W_enc").toMatrix());
        Matrix decoder = file.tensor("W_dec").toMatrix().rowRange(0, WIDTH);
        double[] bias = new double[WIDTH];
        System.arraycopy(file.tensor("b_dec").toDoubles(), 0, bias, 0, WIDTH);
        return new Explainer(
                "standard",
                ReluEncoder.of(encoder, file.tensor("b_enc").toDoubles()),
                new Decoder(decoder.transpose(), bias),
                Path.of("none"));
    }

    private static Matrix firstColumns(Matrix matrix) {
        Matrix first = Matrix.zeros(matrix.rows(), WIDTH);
        for (int i = 0; i < matrix.rows(); i++) {
            System.arraycopy(matrix.values(), i * matrix.columns(), first.values(), i * WIDTH, WIDTH);
        }
        return first;
    }
}
