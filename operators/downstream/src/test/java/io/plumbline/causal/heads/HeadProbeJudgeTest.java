package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.BehaviourChoice;
import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadLocation;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Judges refits as a service does, by a head. */
class HeadProbeJudgeTest {

    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    private Path folder;

    private static BehaviourProbe open(Path head, int requests) throws IOException {
        Duration minute = Duration.ofMinutes(1);
        return new HeadProbes()
                .open(
                        new DownstreamSettings(
                                new HeadLocation.InFile(head),
                                requests,
                                0,
                                minute,
                                minute,
                                1.0,
                                1,
                                1 << 28,
                                true,
                                0.25),
                        PART.explainer());
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

    private static byte[] ofOneRow() throws IOException {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, Matrix.zeros(1, PART.explainer().inputWidth()))
                .toBytes();
    }

    @Test
    void aRefitIsComparedOnWholeRequestsWithTheSiteLimit() throws IOException {
        Explainer explainer = PART.explainer();
        Decoder auto = Objects.requireNonNull(PART.decoders().get("auto"));
        List<byte[]> requests = requests();
        List<byte[]> heldOut = new ArrayList<>(List.of(ofOneRow(), new byte[] {1, 2, 3}));
        heldOut.addAll(requests);
        try (BehaviourProbe probe = open(LivePart.head(), 8)) {
            BehaviourJudge judge = probe.judge(heldOut, null, requests);
            Behaviour.Measured found = assertInstanceOf(
                    Behaviour.Measured.class, judge.judge(explainer.decoder(), explainer.decoder(), auto));
            assertEquals(2, found.heldOut().improvement().requests(), "what cannot be used is passed over");
            double before = PART.json("oracle.json").at("/methods/fixed/kl/0").asDouble()
                    + PART.json("oracle.json").at("/methods/fixed/kl/1").asDouble();
            assertEquals(before / 2, found.heldOut().before().value(), 1e-4);
            assertTrue(
                    found.heldOut().after().value() < found.heldOut().before().value());
            assertNotNull(found.inDistribution());
            assertEquals(0.25, found.maximumGrowth());
            assertTrue(judge.inDistribution(explainer.decoder(), auto).passed());
            assertFalse(judge.inDistribution(auto, explainer.decoder()).passed(), "a KL that grows by more");
        }
    }

    @Test
    void noMoreRequestsAreRunThanOfAWindowAndNormalTrafficNeedNotBeThere() throws IOException {
        Explainer explainer = PART.explainer();
        try (BehaviourProbe probe = open(LivePart.head(), 1)) {
            Behaviour.Measured found = assertInstanceOf(
                    Behaviour.Measured.class,
                    probe.judge(requests(), null, List.of())
                            .judge(explainer.decoder(), explainer.decoder(), explainer.decoder()));
            assertEquals(1, found.heldOut().improvement().requests());
            assertNull(found.inDistribution());
            assertFalse(found.test().passed(), "one request has no interval");
        }
    }

    @Test
    void theRequestsToChooseByAreOthersThanThoseThatJudge() throws IOException {
        Explainer explainer = PART.explainer();
        List<byte[]> requests = requests();
        double[] each = {
            PART.json("oracle.json").at("/methods/fixed/kl/0").asDouble(),
            PART.json("oracle.json").at("/methods/fixed/kl/1").asDouble()
        };
        try (BehaviourProbe probe = open(LivePart.head(), 8)) {
            assertNull(probe.judge(requests, null, List.of()).choice());
            BehaviourChoice choice =
                    Objects.requireNonNull(probe.judge(requests.subList(0, 1), requests.subList(1, 2), List.of())
                            .choice());
            assertEquals(each[1], choice.divergence(explainer.decoder()), 1e-4);
            BehaviourChoice none = Objects.requireNonNull(
                    probe.judge(requests, List.of(ofOneRow()), List.of()).choice());
            assertEquals(
                    "the model could not be run: no request to choose by has two rows or more",
                    assertThrows(BehaviourChoice.NoAnswerException.class, () -> none.divergence(explainer.decoder()))
                            .getMessage());
        }
    }

    @Test
    void whereNothingIsHeldOutOrTheHeadFailsARefitDoesNotPass() throws IOException {
        Explainer explainer = PART.explainer();
        try (BehaviourProbe probe = open(LivePart.head(), 8)) {
            Behaviour none = probe.judge(List.of(ofOneRow()), null, List.of())
                    .judge(explainer.decoder(), explainer.decoder(), explainer.decoder());
            assertFalse(none.test().passed());
            assertEquals(
                    "the model could not be run: no held-out request has two rows or more",
                    none.test().finding());
        }
        FailingHeads.write(folder);
        try (BehaviourProbe probe = open(folder.resolve("not_finite.onnx"), 8)) {
            Behaviour failed = probe.judge(requests(), null, List.of())
                    .judge(explainer.decoder(), explainer.decoder(), explainer.decoder());
            assertFalse(failed.test().passed());
            assertTrue(failed.test().finding().contains("NaN"), failed.test().finding());
        }
    }
}
