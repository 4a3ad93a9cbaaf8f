package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.Figure;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.ProbeProvider;
import io.plumbline.causal.WindowAblation;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeadProbeTest {

    private static final LivePart PART = LivePart.autoencoder();
    private static final Duration LONG = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private static DownstreamSettings settings(Path head) {
        return settings(head, 32, LONG, 1.0);
    }

    private static BehaviourProbe open(Path head, Explainer explainer) {
        return ServiceLoader.load(ProbeProvider.class).findFirst().orElseThrow().open(settings(head), explainer);
    }

    private static List<byte[]> requests() throws IOException {
        List<byte[]> requests = new ArrayList<>();
        try (ActivationFile file = ActivationFile.open(PART.requests())) {
            for (int i = 0; i < file.requests(); i++) {
                requests.add(file.requestAsRecord(i));
            }
        }
        return requests;
    }

    private static double oracle(JsonNode oracle, String method, String name) {
        JsonNode values = oracle.path("methods").path(method).path(name);
        return (values.path(0).asDouble() + values.path(1).asDouble()) / 2;
    }

    private static Figure figure(@Nullable Map<Statistic, Figure> figures, Statistic statistic) {
        return Objects.requireNonNull(Objects.requireNonNull(figures).get(statistic), statistic.label());
    }

    @Test
    void figuresOfTrainedAndServedDecoderAreTheOracles() throws IOException {
        Explainer explainer = PART.explainer();
        Decoder auto = Objects.requireNonNull(PART.decoders().get("auto"));
        try (BehaviourProbe probe = open(LivePart.head(), explainer)) {
            WindowBehaviour found = probe.measure(requests(), auto);
            assertNull(found.reason());
            assertEquals(2, found.requests());
            assertEquals(126, found.rows());
            JsonNode oracle = PART.json("oracle.json");
            for (Statistic statistic : List.of(Statistic.KL, Statistic.DELTA_CE)) {
                Figure trained = figure(found.trained(), statistic);
                assertEquals(oracle(oracle, "fixed", statistic.label()), trained.value(), 1e-4);
                assertTrue(trained.low() <= trained.value() && trained.value() <= trained.high(), trained.toString());
                assertEquals(
                        oracle(oracle, "auto", statistic.label()),
                        figure(found.active(), statistic).value(),
                        1e-4);
            }
            PairedErrors change = Objects.requireNonNull(found.change());
            assertEquals(2, change.requests());
            double klChange = figure(found.active(), Statistic.KL).value()
                    - figure(found.trained(), Statistic.KL).value();
            assertEquals(63 * klChange, change.meanDifference(), 1e-9, "requests of 63 rows that count");
            assertTrue(klChange < 0.0, "a refit to such requests");
            assertEquals(WindowBehaviour.STATISTICS, List.copyOf(found.trained().keySet()));
            assertNull(probe.measure(requests(), null).active());
        }
    }

    @Test
    void withoutTokensThereIsNoCrossEntropyAndKlAllTheSame() throws IOException {
        Explainer explainer = PART.explainer();
        List<byte[]> bare = new ArrayList<>();
        try (ActivationFile file = ActivationFile.open(PART.requests())) {
            bare.add(SafetensorsWriter.create()
                    .add("activations", DType.F32, file.request(0).activations())
                    .toBytes());
        }
        try (BehaviourProbe probe = open(LivePart.head(), explainer)) {
            WindowBehaviour found = probe.measure(bare, null);
            assertEquals(
                    List.of(Statistic.KL, Statistic.TOP1_AGREEMENT),
                    List.copyOf(found.trained().keySet()));
        }
    }

    @Test
    void featuresAreRemovedInAsManyRequestsAsAskedForAndOnlyWithinTheBudget() throws IOException {
        Explainer explainer = PART.explainer();
        AtomicLong clock = new AtomicLong();
        try (OnnxHead head = OnnxHead.open(new HeadLocation.InFile(LivePart.head()), HeadLimits.DEFAULTS);
                RequestFile file = RequestFile.open(PART.requests(), explainer)) {
            Map<String, List<SiteStudy.Found>> study = new SiteStudy(
                            explainer, head, new SiteStudy.Ablating(FeatureRanking.CAUSAL, null, 2))
                    .run(file, Map.of("trained", explainer.decoder()), unused -> {});
            double naopc = study.getOrDefault("trained", List.of()).stream()
                    .mapToDouble(found -> Arrays.stream(
                                    Objects.requireNonNull(found.ablation()).drops())
                            .average()
                            .orElseThrow())
                    .average()
                    .orElseThrow();
            Head ticking = counting(head, () -> clock.addAndGet(1_000));
            WindowBehaviour found =
                    ablating(explainer, ticking, Duration.ofSeconds(1), clock).measure(requests(), null);
            WindowAblation ablation = Objects.requireNonNull(found.ablation());
            assertEquals(2, ablation.requests());
            assertEquals(0, ablation.excluded());
            assertEquals(
                    naopc,
                    Objects.requireNonNull(ablation.trained().get("naopc")).value(),
                    1e-6);
            assertEquals(
                    Set.of("naopc", "ncomp", "ncomp4", "ncomp8"),
                    ablation.trained().keySet());
            assertNull(ablation.active());
            WindowBehaviour hurried =
                    ablating(explainer, ticking, Duration.ofNanos(5_500), clock).measure(requests(), null);
            assertEquals(2, hurried.requests());
            assertNull(hurried.ablation(), "the budget is spent on what windows are judged by");
        }
    }

    private static HeadProbe ablating(Explainer explainer, Head head, Duration budget, AtomicLong clock) {
        DownstreamSettings settings = new DownstreamSettings(
                new HeadLocation.InFile(LivePart.head()), 8, 2, budget, LONG, 1.0, 1, 1 << 28, true, 1.0);
        return new HeadProbe(explainer, head, () -> {}, settings, clock::get);
    }

    @Test
    void afterTheBudgetNoFurtherRequestIsBegun() throws IOException {
        AtomicLong clock = new AtomicLong();
        Explainer explainer = PART.explainer();
        try (OnnxHead head = OnnxHead.open(new HeadLocation.InFile(LivePart.head()), HeadLimits.DEFAULTS)) {
            Head slow =
                    counting(head, () -> clock.addAndGet(Duration.ofMillis(700).toNanos()));
            HeadProbe probe = probe(explainer, slow, 8, Duration.ofSeconds(2), 1.0, clock::get);
            assertEquals(1, probe.measure(requests(), null).requests());
            HeadProbe patient = probe(explainer, slow, 8, LONG, 1.0, clock::get);
            WindowBehaviour both = patient.measure(requests(), null);
            assertEquals(2, both.requests());
            assertEquals(Duration.ofMillis(6 * 700).toNanos(), both.nanoseconds());
            HeadProbe first = probe(explainer, slow, 1, LONG, 1.0, clock::get);
            assertEquals(1, first.measure(requests(), null).requests());
        }
    }

    @Test
    void windowsThatCloseFasterThanItsShareAllowsAreNotMeasured() throws IOException {
        AtomicLong clock = new AtomicLong();
        Explainer explainer = PART.explainer();
        try (OnnxHead head = OnnxHead.open(new HeadLocation.InFile(LivePart.head()), HeadLimits.DEFAULTS)) {
            Head slow =
                    counting(head, () -> clock.addAndGet(Duration.ofMillis(500).toNanos()));
            HeadProbe probe = probe(explainer, slow, 1, LONG, 0.25, clock::get);
            assertEquals(1, probe.measure(requests(), null).requests());
            long measured = clock.get();
            assertEquals(Duration.ofMillis(1_500).toNanos(), measured);
            WindowBehaviour resting = probe.measure(requests(), null);
            assertEquals(0, resting.requests());
            assertNull(resting.failure());
            assertEquals(
                    "the head rests: the window before took it 1.5 s, and downstream.share lets it take 0.25 of the "
                            + "time",
                    resting.reason());
            assertEquals(measured, clock.get());
            clock.set(4 * measured - 1);
            assertEquals(0, probe.measure(requests(), null).requests());
            clock.set(4 * measured);
            assertEquals(1, probe.measure(requests(), null).requests());
        }
    }

    private static HeadProbe probe(
            Explainer explainer, Head head, int most, Duration budget, double share, LongSupplier clock) {
        return new HeadProbe(explainer, head, () -> {}, settings(LivePart.head(), most, budget, share), clock);
    }

    private static DownstreamSettings settings(Path head, int most, Duration budget, double share) {
        return new DownstreamSettings(
                new HeadLocation.InFile(head), most, 0, budget, LONG, share, 1, 1 << 28, true, 1.0);
    }

    private static Head counting(Head head, Supplier<Long> tick) {
        return new Head() {
            @Override
            public boolean readsResidual() {
                return false;
            }

            @Override
            public Logits logits(Matrix rows, @Nullable Matrix residual) {
                var unused = tick.get();
                return head.logits(rows, residual);
            }
        };
    }

    @Test
    void aRequestThatCannotBeMeasuredIsLeftOutAndTheOthersAreMeasured() throws IOException {
        Explainer explainer = PART.explainer();
        List<byte[]> requests = new ArrayList<>(requests());
        Matrix rows = Matrix.zeros(2, explainer.inputWidth());
        requests.add(SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .addLongs("token_ids", 0, 1 << 20)
                .toBytes());
        requests.add(SafetensorsWriter.create()
                .add("activations", DType.F32, rows.rowRange(0, 1))
                .toBytes());
        try (BehaviourProbe probe = open(LivePart.head(), explainer)) {
            WindowBehaviour found = probe.measure(requests, null);
            assertEquals(2, found.requests());
            assertEquals(2, found.leftOut());
            WindowBehaviour none = probe.measure(requests.subList(2, 4), null);
            assertEquals(
                    "no request could be measured: a request of 1 row: expected 2 or more, the first is never"
                            + " replaced and never counted",
                    none.reason());
            assertNull(none.failure());
            assertTrue(String.valueOf(probe.measure(List.of(), null).reason()).startsWith("no whole request came"));
        }
    }

    @Test
    void aHeadThatGivesNoUsableAnswerIsAFailureWithItsKindAndReason() throws IOException {
        FailingHeads.write(folder);
        assertFails("not_finite", "is NaN");
        assertFails("wrong_shape", "logits [192, 64] for 64 rows");
        assertFails("timed_out", "no answer in time");
    }

    private void assertFails(String failure, String part) throws IOException {
        DownstreamSettings settings = new DownstreamSettings(
                new HeadLocation.InFile(folder.resolve(failure + ".onnx")),
                32,
                0,
                LONG,
                Duration.ofMillis(300),
                1.0,
                1,
                1 << 20,
                true,
                1.0);
        try (BehaviourProbe probe = new HeadProbes().open(settings, PART.explainer())) {
            WindowBehaviour found = probe.measure(requests(), null);
            assertEquals(failure, found.failure());
            assertNotNull(found.reason());
            assertTrue(found.reason().contains(part), found.reason());
            assertEquals(Map.of(), found.trained());
        }
    }

    @Test
    void aHeadOfAnotherSiteIsRefusedWhenItIsOpened() throws IOException {
        Path file = folder.resolve("head.onnx");
        TinyOnnx.write(file, TinyOnnx.linear(3, 2, 1f));
        assertRefused("reads rows of 3 values, the explainer writes 192", file, PART.explainer());
        assertRefused(
                "the explainer is a transcoder: its head reads targets and residual",
                LivePart.head(),
                LivePart.transcoder().explainer());
        Files.writeString(file, "no model at all");
        assertRefused("no ONNX model", file, PART.explainer());
    }

    private static void assertRefused(String part, Path head, Explainer explainer) {
        String said = String.valueOf(assertThrows(IllegalArgumentException.class, () -> open(head, explainer))
                .getMessage());
        assertTrue(said.contains(part), said);
    }

    @Test
    void aTranscodersRequestsBringTheirResidualStream() throws IOException {
        LivePart part = LivePart.transcoder();
        Explainer explainer = part.explainer();
        try (OnnxHead head = OnnxHead.open(new HeadLocation.InFile(LivePart.head()), HeadLimits.DEFAULTS);
                RequestFile file = RequestFile.open(part.requests(), explainer)) {
            HeadProbe probe = probe(explainer, LivePart.summing(head), 8, LONG, 1.0, System::nanoTime);
            List<byte[]> with = new ArrayList<>();
            List<byte[]> without = new ArrayList<>();
            for (int i = 0; i < file.count(); i++) {
                RequestRows rows = file.request(i);
                with.add(record(rows)
                        .add("residual", DType.F32, Objects.requireNonNull(rows.residual()))
                        .toBytes());
                without.add(record(rows).toBytes());
            }
            JsonNode oracle = part.json("oracle.json");
            assertEquals(
                    oracle(oracle, "fixed", "kl"),
                    figure(probe.measure(with, null).trained(), Statistic.KL).value(),
                    1e-4);
            assertEquals(2, probe.measure(without, null).leftOut());
        }
    }

    private static SafetensorsWriter record(RequestRows rows) {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, rows.batch().activations())
                .add("targets", DType.F32, rows.targets())
                .addLongs("token_ids", Objects.requireNonNull(rows.batch().tokenIds()));
    }
}
