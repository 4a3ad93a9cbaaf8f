package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.NonFiniteRowException;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMoment;
import io.plumbline.parallel.Cores;
import io.plumbline.records.ActivationBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BaselineTest {

    static final int DIMENSION = 6;
    static final int RANK = 2;
    private static final int FEATURES = 10;

    static final Explainer AUTOENCODER = explainer("standard");

    static Explainer explainer(String architecture) {
        Random random = new Random(1);
        return new Explainer(
                architecture,
                ReluEncoder.of(
                        gaussian(random, FEATURES, DIMENSION),
                        gaussian(random, 1, FEATURES).values()),
                new Decoder(
                        gaussian(random, FEATURES, DIMENSION),
                        gaussian(random, 1, DIMENSION).values()),
                Path.of("none"));
    }

    static Matrix gaussian(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian() / (1 + i % columns);
        }
        return matrix;
    }

    static Matrix request(int index) {
        return gaussian(new Random(100 + index), 7 + index % 5, DIMENSION);
    }

    static Baseline build(int requests) {
        return build(AUTOENCODER, requests);
    }

    private static Baseline build(Explainer explainer, int requests) {
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(RANK), List.of(20, 35));
        for (int i = 0; i < requests; i++) {
            builder.add(new ActivationBatch(request(i), null, null));
        }
        CleanWindowPass windows = builder.secondPass();
        for (int i = 0; i < requests; i++) {
            windows.add(new ActivationBatch(request(i), null, null));
        }
        return windows.build();
    }

    @Test
    void aRecordingGivenTwiceIsTheBaselineOfOne(@TempDir Path folder) throws IOException {
        Path once = folder.resolve("once.safetensors");
        Path twice = folder.resolve("twice.safetensors");
        build(30).write(once);
        List<ActivationBatch> both = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            both.add(new ActivationBatch(request(i % 30), null, null));
        }
        BaselineBuilder builder = BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of(20, 35));
        both.forEach(builder::addContents);
        both.forEach(builder::add);
        CleanWindowPass windows = builder.secondPass();
        both.forEach(windows::add);
        windows.build().write(twice);
        assertEquals(30, builder.repeatedRequests());
        assertEquals(builder.rows(), builder.repeatedRows());
        assertEquals(-1, Files.mismatch(once, twice));
    }

    @Test
    void aStatisticThatIsUndefinedInAWindowKeepsThatWindowsPlace(@TempDir Path folder) throws IOException {
        // One row spans no subspace of rank 2.
        int[] rowsOfRequests = {1, 9, 1, 8, 9, 1};
        BaselineBuilder builder = BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of(1));
        List<ActivationBatch> requests = new ArrayList<>();
        for (int i = 0; i < rowsOfRequests.length; i++) {
            requests.add(new ActivationBatch(gaussian(new Random(i), rowsOfRequests[i], DIMENSION), null, null));
        }
        requests.forEach(builder::add);
        CleanWindowPass windows = builder.secondPass();
        requests.forEach(windows::add);
        Path file = folder.resolve("baseline.safetensors");
        windows.build().write(file);
        NullSample sample = Baseline.read(file).sample(RANK, 1).orElseThrow();
        double[] gaps = sample.series("faithfulness_gap");
        double[] energies = sample.series("residual_energy");
        assertEquals(rowsOfRequests.length, gaps.length);
        for (int i = 0; i < rowsOfRequests.length; i++) {
            assertEquals(rowsOfRequests[i] == 1, Double.isNaN(gaps[i]), "window " + i);
            assertTrue(Double.isFinite(energies[i]), "window " + i);
        }
        assertEquals(3, sample.values("faithfulness_gap").length);
    }

    @Test
    void cleanWindowsAreTheSameInTheSameOrderForAnyNumberOfCores() {
        String before = System.getProperty(Cores.PROPERTY);
        Baseline onAll = build(60);
        try {
            System.setProperty(Cores.PROPERTY, "1");
            for (NullSample one : build(60).samplesOf(RANK)) {
                NullSample all = onAll.sample(RANK, one.rowsPerWindow()).orElseThrow();
                assertEquals(one.statistics().keySet(), all.statistics().keySet());
                one.statistics().forEach((name, values) -> assertArrayEquals(values, all.series(name), name));
            }
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
        // Requests have 7 to 11 rows in turn: three of them fill a window of 20, and then two.
        double[] rows = onAll.sample(RANK, 20).orElseThrow().series(NullSample.ROWS);
        assertArrayEquals(new double[] {24, 21, 24, 21, 24, 21}, Arrays.copyOf(rows, 6));
        assertEquals(24, rows.length);
    }

    @Test
    void theLadderHasTheSizesThatTheRecordingFillsEightTimes() {
        assertEquals(List.of(128, 256), sizesOnLadder(8 * 256));
        assertEquals(List.of(128), sizesOnLadder(8 * 256 - 1));
        assertEquals(List.of(128), sizesOnLadder(400), "too few, and better than none");
    }

    private static List<Integer> sizesOnLadder(int rows) {
        List<ActivationBatch> requests = new ArrayList<>();
        for (int left = rows; left > 0; left -= 100) {
            requests.add(new ActivationBatch(gaussian(new Random(left), Math.min(left, 100), DIMENSION), null, null));
        }
        BaselineBuilder builder =
                BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of()).onLadder();
        requests.forEach(builder::add);
        CleanWindowPass windows = builder.secondPass();
        requests.forEach(windows::add);
        return windows.build().samplesOf(RANK).stream()
                .map(NullSample::rowsPerWindow)
                .toList();
    }

    private static Matrix stack(int from, int to) {
        int rows = 0;
        for (int i = from; i < to; i++) {
            rows += request(i).rows();
        }
        Matrix all = Matrix.zeros(rows, DIMENSION);
        int next = 0;
        for (int i = from; i < to; i++) {
            double[] values = request(i).values();
            System.arraycopy(values, 0, all.values(), next, values.length);
            next += values.length;
        }
        return all;
    }

    @Test
    void momentsAndFvuAreThoseOfAllRows() {
        Baseline baseline = build(12);
        Matrix all = stack(0, 12);
        SparseCodes codes = AUTOENCODER.encoder().encode(all);
        Matrix reconstruction = AUTOENCODER.decoder().reconstruct(codes);
        assertEquals(all.rows(), baseline.rowCount());
        assertNear(SecondMoment.of(all).matrix(), baseline.moment().matrix());
        assertNear(SecondMoment.of(reconstruction).matrix(), baseline.reconstructionMoment());
        assertEquals(fvu(reconstruction, all), baseline.reconstructionFvu(), 1e-12);
        assertEquals(AUTOENCODER.decoder().sha256(), baseline.explainerSha256());
    }

    @Test
    void windowsAreWholeRequestsTakenAgainstTheBaselineWithoutThem() {
        Baseline baseline = build(12);
        // Requests have 7, 8, 9, 10, 11, 7, ... rows: the first window of 20 is full after the third.
        Matrix window = stack(0, 3);
        Matrix others = stack(3, 12);
        Matrix reconstruction =
                AUTOENCODER.decoder().reconstruct(AUTOENCODER.encoder().encode(others));
        var expected = SiteGeometry.of(
                        AUTOENCODER.decoder(),
                        SecondMoment.of(others),
                        SecondMoment.of(reconstruction).matrix(),
                        RANK)
                .assess(SecondMoment.of(window));
        NullSample sample = baseline.sample(RANK, 20).orElseThrow();
        for (String statistic : List.of(
                "faithfulness_gap",
                "gap_share",
                "baseline_gap",
                "second_moment_shift_ratio",
                "residual_energy",
                "whitened_mean_shift",
                "reconstruction_gap")) {
            double first = sample.values(statistic)[0];
            assertEquals(expected.statistic(statistic).orElseThrow(), first, 1e-9, statistic);
        }
        // A window of fewer rows than are sampled: all of them.
        SparseCodes codes = AUTOENCODER.encoder().encode(window);
        assertEquals(
                fvu(AUTOENCODER.decoder().reconstruct(codes), window),
                sample.values(Statistic.RECONSTRUCTION_FVU_TRAINED.label())[0],
                1e-6);
        assertEquals(0, sample.values("no such statistic").length);
    }

    @Test
    void everyRowIsEncodedOnceThoughTheRequestsAreReadTwice() {
        AtomicInteger encoded = new AtomicInteger();
        Encoder counting = new Encoder() {
            @Override
            public int inputWidth() {
                return AUTOENCODER.encoder().inputWidth();
            }

            @Override
            public int features() {
                return AUTOENCODER.encoder().features();
            }

            @Override
            public SparseCodes encode(Matrix rows) {
                encoded.addAndGet(rows.rows());
                return AUTOENCODER.encoder().encode(rows);
            }
        };
        Baseline baseline = build(new Explainer("standard", counting, AUTOENCODER.decoder(), Path.of("none")), 12);
        assertEquals(baseline.rowCount(), encoded.get());
        Baseline known = build(12);
        for (NullSample sample : known.samples()) {
            NullSample found =
                    baseline.sample(sample.rank(), sample.rowsPerWindow()).orElseThrow();
            assertArrayEquals(sample.values("reconstruction_gap"), found.values("reconstruction_gap"));
        }
    }

    @Test
    void codesBeyondTheLimitOrOfOtherRowsAreNotKept() {
        SparseCodes codes = AUTOENCODER.encoder().encode(request(0));
        long bytes = 12L * codes.nonZeros() + 4L * codes.rows();
        KeptCodes kept = new KeptCodes(2 * bytes);
        for (int i = 0; i < 3; i++) {
            kept.add(List.of(codes));
        }
        assertEquals(List.of(codes), kept.of(1, codes.rows()));
        assertNull(kept.of(1, codes.rows() + 1));
        assertNull(kept.of(2, codes.rows()));
    }

    @Test
    void anUnfinishedWindowIsNotACleanWindow() {
        Baseline baseline = build(12);
        // 7+8+9 | 10+11 | 7+8+9 | 10+11 | 7+8 left over; and 7+8+9+10+11 = 45 | 45 | left over at 35.
        assertEquals(4, baseline.sample(RANK, 20).orElseThrow().values("gap_share").length);
        assertTrue(baseline.sample(RANK, 21).isEmpty());
    }

    @Test
    void cleanWindowsKeepTheRowsTheyHave() {
        assertArrayEquals(
                new double[] {24, 21, 24, 21},
                build(12).sample(RANK, 20).orElseThrow().values("rows"));
        assertEquals(22.5, build(12).sample(RANK, 20).orElseThrow().meanRows());
        assertEquals(20, new NullSample(RANK, 20, Map.of()).meanRows(), "as filled to, in files without them");
    }

    @Test
    void theTwoPassesMustBeOverTheSameRows() {
        BaselineBuilder builder = BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of(20));
        builder.add(new ActivationBatch(request(0), null, null));
        builder.add(new ActivationBatch(request(1), null, null));
        assertThrows(IllegalStateException.class, builder::build);
        CleanWindowPass windows = builder.secondPass().add(new ActivationBatch(request(0), null, null));
        assertTrue(String.valueOf(assertThrows(IllegalStateException.class, windows::build)
                        .getMessage())
                .contains("read 7 rows, the first 15"));
    }

    @Test
    void theDesignEffectIsThatOfWholeRequests() {
        // By the definition, over requests of unequal length.
        Grouping grouping = build(12).grouping();
        assertNotNull(grouping);
        Matrix all = stack(0, 12);
        SecondMoment moment = SecondMoment.of(all);
        double meanBetween = 0;
        double momentBetween = 0;
        for (int i = 0; i < 12; i++) {
            SecondMoment own = SecondMoment.of(request(i));
            double distance = 0;
            for (int j = 0; j < DIMENSION; j++) {
                distance += Math.pow(own.rows() * (own.mean()[j] - moment.mean()[j]), 2);
            }
            meanBetween += distance;
            momentBetween +=
                    Math.pow(own.rows() * own.matrix().minus(moment.matrix()).frobeniusNorm(), 2);
        }
        double meanWithin = 0;
        double momentWithin = 0;
        for (int i = 0; i < all.rows(); i++) {
            SecondMoment row = SecondMoment.of(all.rowRange(i, i + 1));
            for (int j = 0; j < DIMENSION; j++) {
                meanWithin += Math.pow(row.mean()[j] - moment.mean()[j], 2);
            }
            momentWithin += Math.pow(row.matrix().minus(moment.matrix()).frobeniusNorm(), 2);
        }
        double correction = 12.0 / 11 * (all.rows() - 1.0) / all.rows();
        assertEquals(12, grouping.requests());
        assertEquals(correction * meanBetween / meanWithin, grouping.meanDesignEffect(), 1e-9);
        assertEquals(correction * momentBetween / momentWithin, grouping.momentDesignEffect(), 1e-9);
        assertEquals(108 / grouping.momentDesignEffect(), grouping.effectiveRows(108), 1e-9);
    }

    @Test
    void rowsAreNeverWorthMoreThanTheyAre() {
        assertEquals(6_000.0, new Grouping(2, 0.466, 0.5).effectiveRows(6_000));
        assertEquals(2_000.0, new Grouping(9, 3.0, 2.0).effectiveRows(6_000));
    }

    @Test
    void rowsThatRepeatWithinARequestCountOnce() {
        BaselineBuilder repeated = BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of());
        BaselineBuilder single = BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of());
        Matrix rows = gaussian(new Random(3), 400, DIMENSION);
        for (int i = 0; i < rows.rows(); i++) {
            Matrix row = rows.rowRange(i, i + 1);
            single.add(new ActivationBatch(row, null, null));
            Matrix five = Matrix.zeros(5, DIMENSION);
            for (int copy = 0; copy < 5; copy++) {
                System.arraycopy(row.values(), 0, five.values(), copy * DIMENSION, DIMENSION);
            }
            repeated.add(new ActivationBatch(five, null, null));
        }
        Grouping alike = repeated.build().grouping();
        Grouping independent = single.build().grouping();
        assertNotNull(alike);
        assertNotNull(independent);
        assertEquals(5.0, alike.momentDesignEffect(), 0.02);
        assertEquals(5.0, alike.meanDesignEffect(), 0.02);
        assertEquals(1.0, independent.momentDesignEffect(), 1e-9);
        assertEquals(1.0, independent.meanDesignEffect(), 1e-9);
        assertNull(BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of())
                .add(new ActivationBatch(request(0), null, null))
                .build()
                .grouping());
    }

    @Test
    void aRefusedBatchLeavesNoTrace() {
        BaselineBuilder builder = BaselineBuilder.of(AUTOENCODER, List.of(RANK), List.of());
        builder.add(new ActivationBatch(request(0), null, null));
        Matrix poisoned = request(1);
        poisoned.set(2, 3, Double.NaN);
        assertThrows(NonFiniteRowException.class, () -> builder.add(new ActivationBatch(poisoned, null, null)));
        assertThrows(
                IllegalArgumentException.class,
                () -> builder.add(new ActivationBatch(Matrix.zeros(2, DIMENSION + 1), null, null)));
        assertEquals(7, builder.rows());
        assertNear(
                SecondMoment.of(request(0)).matrix(), builder.build().moment().matrix());
    }

    @Test
    void aTranscoderNeedsTargetsAndIsMeasuredOnThem() {
        BaselineBuilder builder = BaselineBuilder.of(explainer("transcoder"), List.of(RANK), List.of());
        assertThrows(IllegalArgumentException.class, () -> builder.add(new ActivationBatch(request(0), null, null)));
        Matrix targets = gaussian(new Random(9), 7, DIMENSION);
        builder.add(new ActivationBatch(request(0), targets, null));
        assertNear(SecondMoment.of(targets).matrix(), builder.build().moment().matrix());
    }

    @Test
    void keptRowsAreWholeRequestsOfTheRecording() {
        List<SampledRow> rows = build(12).rows();
        assertEquals(stack(0, 12).rows(), rows.size(), "all there are fit");
        int found = 0;
        for (int request = 0; request < 12; request++) {
            Matrix all = request(request);
            for (int i = 0; i < rows.size(); i++) {
                if (rows.get(i).activation()[0] == (float) all.get(0, 0)) {
                    found++;
                    for (int row = 0; row < all.rows(); row++) {
                        assertEquals(rows.get(i).request(), rows.get(i + row).request());
                        for (int j = 0; j < DIMENSION; j++) {
                            assertEquals(
                                    (float) all.get(row, j), rows.get(i + row).activation()[j]);
                        }
                    }
                }
            }
        }
        assertEquals(12, found);
    }

    static Baseline reread(Path folder, Baseline baseline) throws IOException {
        Path file = folder.resolve("baseline.safetensors");
        baseline.write(file);
        return Baseline.read(file);
    }

    private static double fvu(Matrix reconstruction, Matrix targets) {
        double error = targets.minus(reconstruction).frobeniusNorm();
        return error
                * error
                / (targets.rows() * SecondMoment.of(targets).covariance().trace());
    }

    private static void assertNear(Matrix expected, Matrix actual) {
        assertEquals(0.0, expected.minus(actual).frobeniusNorm(), 1e-12 * (1 + expected.frobeniusNorm()));
    }
}
