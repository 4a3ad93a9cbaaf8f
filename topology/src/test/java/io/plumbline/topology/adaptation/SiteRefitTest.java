package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.SubspaceCache;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WindowCodes;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests number formats, and what a report says. */
class SiteRefitTest {

    private static final int WIDTH = 6;
    private static final double VALIDATION_SHARE = 0.25;
    private static final GateLimits ANY_CHANGE = new GateLimits(0.05, 1.0, -1.0, 1e9, 1.0, 1e9);
    private static final String STANDARD = "\"architecture\": \"standard\"";
    private static final AdaptationMessage.Adapt REQUEST =
            new AdaptationMessage.Adapt(10_000, 0, List.of(new AdaptationMessage.BlockRows(null, 256, 512, 1)));

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"F64", "F32", "F16", "BF16"})
    void theGateJudgesTheDecoderAsItWillBeRead(DType dtype) throws IOException {
        Explainer explainer = explainer(1.0);
        PooledRows sample = sample();
        AdapterAnswer answer = refit(explainer, dtype)
                .adapt(REQUEST, sample, ServingDecoder.of(explainer.decoder()), GateLimits.DEFAULTS);
        AdapterAnswer.Publication publication = present(answer.publication());
        for (double weight : publication.decoder().weights().toMatrix().values()) {
            assertEquals(dtype.rounded(weight), weight, dtype.toString());
        }
        for (double bias : publication.decoder().bias()) {
            assertEquals(dtype.rounded(bias), bias, dtype.toString());
        }
        double judged = present(answer.report().fvuAfter());
        assertEquals(Double.toString(judged), publication.lineage().get("fvu_after"));
        // Fitted on every row, also on those that judged.
        assertEquals(256, present(answer.report().gate()).publishedRows());
        assertTrue(answer.report().reason().endsWith("; published as fitted on all 256 rows"), answer.report()::reason);
        if (dtype == DType.BF16) {
            AdapterAnswer exact = refit(explainer, DType.F64)
                    .adapt(REQUEST, sample, ServingDecoder.of(explainer.decoder()), GateLimits.DEFAULTS);
            assertNotEquals(exact.report().fvuAfter(), judged, "rounding shows at all");
        }
    }

    @Test
    void tooFewRequestsWaitForMore() throws IOException {
        Explainer explainer = explainer(1.0);
        RowSample few = RowSample.ofCapacity(512);
        sample().rows().stream()
                .filter(row -> row.timestampMs() < 15)
                .forEach(row -> few.offer(row.hash(), row.request(), row.timestampMs(), row.activation(), null));
        AdapterAnswer outcome = refit(explainer, DType.F32)
                .adapt(REQUEST, pool(few), ServingDecoder.of(explainer.decoder()), GateLimits.DEFAULTS);
        assertNull(outcome.publication());
        assertEquals(Outcome.POOLED, outcome.report().outcome());
        assertEquals(
                "15 distinct requests, expected at least 16, 8 of them to judge on: too few, "
                        + "the rows wait for those of the next drifted window",
                outcome.report().reason());
    }

    /** Tests 32 requests; 20 of them say the same. */
    @Test
    void copiesOfARequestAreOne() throws IOException {
        Explainer explainer = explainer(1.0);
        RowSample copies = RowSample.ofCapacity(512);
        for (SampledRow row : sample().rows()) {
            int request = (int) row.timestampMs();
            int of = request < 20 ? 0 : request;
            SampledRow same = sample().rows().stream()
                    .filter(other -> other.timestampMs() == of)
                    .skip(copies.size() % 8)
                    .findFirst()
                    .orElseThrow();
            copies.offer(row.hash(), row.request(), row.timestampMs(), same.activation(), null);
        }
        AdaptationReport report = refit(explainer, DType.F32)
                .adapt(REQUEST, pool(copies), ServingDecoder.of(explainer.decoder()), GateLimits.DEFAULTS)
                .report();
        assertEquals(Outcome.POOLED, report.outcome());
        assertTrue(report.reason().contains("19 more are copies of others"), report::reason);
    }

    @Test
    void weightsThatTheTypeCannotHoldAreAFailureAndNotInfinities() throws IOException {
        Explainer explainer = explainer(1e6);
        AdapterAnswer outcome = refit(explainer, DType.F16)
                .adapt(REQUEST, sample(), ServingDecoder.of(explainer.decoder()), GateLimits.DEFAULTS);
        assertNull(outcome.publication());
        assertEquals(Outcome.FAILED, outcome.report().outcome());
        String reason = outcome.report().reason();
        assertTrue(reason.contains("F16 holds at most 65504.0; nothing was published"), reason);
        assertNotNull(refit(explainer, DType.BF16)
                .adapt(REQUEST, sample(), ServingDecoder.of(explainer.decoder()), GateLimits.DEFAULTS)
                .publication());
    }

    @Test
    void aSingleCandidateIsReportedWithoutFiguresItWasNotChosenBy() throws IOException {
        Explainer explainer = explainer(1.0);
        AdapterAnswer outcome = refit(explainer, paper(WIDTH))
                .adapt(REQUEST, sample(), ServingDecoder.of(explainer.decoder()), ANY_CHANGE);
        AdaptationReport report = outcome.report();
        assertEquals(2, report.candidates().size());
        for (AdaptationReport.CandidateFigures figures : report.candidates()) {
            assertNotNull(figures.fvuFit());
            assertNull(figures.fvuValidation());
            assertNull(figures.fvuInDistribution());
        }
        String written = present(outcome.publication()).lineage().get("candidates");
        assertEquals(2, written.split("\"fvu_validation\":null", -1).length - 1, written);
        // What it is worth is in the gate's figures, on rows that it did not see.
        assertTrue(report.fvuAfter() < report.fvuBefore(), report::toString);
    }

    @Test
    void aSingleCandidateThatIsNotDeterminedKeepsTheDecoderAndSaysWhy() throws IOException {
        Explainer explainer = explainer(1.0);
        // Three directions of the decoder are equally strong: no two of them are the first two.
        AdaptationReport report = refit(explainer, paper(2))
                .adapt(REQUEST, sample(), ServingDecoder.of(explainer.decoder()), ANY_CHANGE)
                .report();
        assertEquals(Outcome.KEPT, report.outcome());
        assertTrue(report.reason().contains("could not be fitted and nothing else was tried: "), report::reason);
        assertTrue(report.reason().contains("its rank-2 subspace is not identified"), report::reason);
        assertNull(report.candidates().get(1).fvuFit());
        assertNull(report.gate());
    }

    /** Tests a width at which all directions take longer than anything may wait for: here, until they are let go. */
    @Test
    void noRefitWaitsForAllDirections() throws IOException, InterruptedException {
        int width = 1_024;
        Explainer explainer = explainer(width, 1.0, STANDARD);
        CountDownLatch go = new CountDownLatch(1);
        ExplainerSubspace subspace = SubspaceCache.of(
                folder, explainer.decoder(), explainer.decoder().sha256(), 3, line -> {
                    if (line.startsWith("computing the directions")) {
                        awaited(go);
                    }
                });
        AdaptationProfile fullRank = new AdaptationProfile.Paper(
                new GaeSettings(3, Rotation.FULL_RANK, Regularisation.relative(0.0, 0.1), 0.0));
        SiteRefit refit = new SiteRefit(
                "layer.2", explainer, subspace, List.of(), 3, settings(fullRank), new WindowCodes(), null, List.of());
        PooledRows sample = sample(width);
        AdaptationReport early =
                assertTimeoutPreemptively(Duration.ofSeconds(20), () -> adapted(refit, explainer, sample));
        assertEquals(Outcome.POOLED, early.outcome());
        assertEquals(
                "all directions of the dictionary are being computed, once: the rows wait for those of the next "
                        + "drifted window",
                early.reason());
        go.countDown();
        while (!subspace.isComplete()) {
            Thread.sleep(20);
        }
        AdaptationReport late = adapted(refit, explainer, sample);
        assertNotEquals(Outcome.POOLED, late.outcome(), late::reason);
        assertEquals(2, late.candidates().size());
    }

    private static AdaptationReport adapted(SiteRefit refit, Explainer explainer, PooledRows sample) {
        return refit.adapt(REQUEST, sample, ServingDecoder.of(explainer.decoder()), ANY_CHANGE)
                .report();
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static <T> T present(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    private static AdaptationProfile paper(int rank) {
        return new AdaptationProfile.Paper(
                new GaeSettings(rank, Rotation.PRINTED, Regularisation.relative(0.0, 0.1), 0.0));
    }

    @Test
    void theTrainedDecoderReturnsInATypeThatKeepsIt() throws IOException {
        Decoder halves = explainer(1.0).decoder();
        Decoder wide = explainer(1e6).decoder();
        assertEquals(DType.F16, settings(DType.F16).revertType(halves));
        assertEquals(DType.F64, settings(DType.F64).revertType(halves));
        assertEquals(DType.F32, settings(DType.F16).revertType(wide));
        assertEquals(DType.F32, settings(DType.BF16).revertType(wide));
        Decoder beyondFloat = new Decoder(new Matrix(1, 1, new double[] {1e39}), new double[1]);
        assertEquals(DType.F64, settings(DType.F16).revertType(beyondFloat));
    }

    /** Tests a transcoder that writes five and ten times its targets. */
    @Test
    void aSaeLensTranscoderThatExplainsLessThanNothingIsNotRefitted() throws IOException {
        Explainer explainer = explainer(
                1.0, "\"architecture\": \"transcoder\", \"d_out\": %d, \"activation_fn\": \"topk\"".formatted(WIDTH));
        List<SampledRow> clean = sample().rows().stream()
                .map(row -> {
                    float[] target = row.activation().clone();
                    for (int j = 0; j < WIDTH; j++) {
                        target[j] /= 20.0f;
                    }
                    return new SampledRow(row.hash(), row.request(), row.timestampMs(), row.activation(), target);
                })
                .toList();
        ExplainerSubspace subspace = ExplainerSubspace.of(explainer.decoder(), 3);
        AdaptationReport report = new SiteRefit(
                        "layer.2",
                        explainer,
                        subspace,
                        clean,
                        3,
                        settings(DType.F32),
                        new WindowCodes(),
                        null,
                        List.of())
                .adapt(
                        REQUEST,
                        new PooledRows(clean, Set.of(), 1, 1.0, List.of()),
                        ServingDecoder.of(explainer.decoder()),
                        GateLimits.DEFAULTS)
                .report();
        assertEquals(Outcome.REFUSED, report.outcome());
        String reason = report.reason();
        assertTrue(reason.contains("is read as transcoder and explains less than nothing of clean traffic"), reason);
        assertTrue(reason.contains("explainer_options: {k: K}"), reason);
    }

    private static SiteRefit refit(Explainer explainer, DType dtype) {
        return refit(explainer, settings(dtype));
    }

    private static SiteRefit refit(Explainer explainer, AdaptationProfile profile) {
        return refit(explainer, settings(profile));
    }

    private static AdaptationSettings settings(AdaptationProfile profile) {
        return new AdaptationSettings(
                profile, ANY_CHANGE, VALIDATION_SHARE, SelectBy.FVU, DType.F32, 512, Duration.ZERO);
    }

    private static SiteRefit refit(Explainer explainer, AdaptationSettings settings) {
        ExplainerSubspace subspace = ExplainerSubspace.of(explainer.decoder(), 3);
        return new SiteRefit(
                "layer.2", explainer, subspace, List.of(), 3, settings, new WindowCodes(), null, List.of());
    }

    private static AdaptationSettings settings(DType dtype) {
        return new AdaptationSettings(
                new AdaptationProfile.Auto(),
                GateLimits.DEFAULTS,
                VALIDATION_SHARE,
                SelectBy.FVU,
                dtype,
                512,
                Duration.ZERO);
    }

    private static PooledRows sample() {
        return sample(WIDTH);
    }

    private static PooledRows sample(int width) {
        RowSample sample = RowSample.ofCapacity(512);
        Random random = new Random(11);
        for (int row = 0; row < 256; row++) {
            float[] values = new float[width];
            for (int j = 0; j < width; j++) {
                values[j] = (float) ((j < 3 ? 0.1 : 1.0 + j) * random.nextGaussian());
            }
            sample.offer(RowSample.hash(row, 0), row / 8, row / 8, values, null);
        }
        return pool(sample);
    }

    private static PooledRows pool(RowSample sample) {
        return new PooledRows(sample.rows(), Set.of(), 1, 1.0, List.of());
    }

    /** Reads both signs of every coordinate; writes half of the first three and a quarter of the others. */
    private Explainer explainer(double decoderScale) throws IOException {
        return explainer(decoderScale, STANDARD);
    }

    private Explainer explainer(double decoderScale, String architecture) throws IOException {
        return explainer(WIDTH, decoderScale, architecture);
    }

    private Explainer explainer(int width, double decoderScale, String architecture) throws IOException {
        Path directory = Files.createDirectories(folder.resolve("sae-" + decoderScale));
        Matrix encoder = Matrix.zeros(width, 2 * width);
        Matrix decoder = Matrix.zeros(2 * width, width);
        for (int j = 0; j < width; j++) {
            encoder.set(j, j, 1.0 / decoderScale);
            encoder.set(j, j + width, -1.0 / decoderScale);
            decoder.set(j, j, (j < 3 ? 0.5 : 0.25) * decoderScale);
            decoder.set(j + width, j, -(j < 3 ? 0.5 : 0.25) * decoderScale);
        }
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, encoder)
                .addVector("b_enc", DType.F32, new double[2 * width])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[width])
                .writeTo(directory.resolve("sae_weights.safetensors"));
        Files.writeString(
                directory.resolve("cfg.json"),
                ("{%s, \"d_in\": %d, \"d_sae\": %d, \"apply_b_dec_to_input\": false, "
                                + "\"normalize_activations\": \"none\"}")
                        .formatted(architecture, width, 2 * width));
        return Formats.read(directory);
    }
}
