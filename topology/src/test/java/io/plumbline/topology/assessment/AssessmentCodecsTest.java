package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.groups.RecentGroups;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.SequentialDetector;
import io.plumbline.judgement.SequentialState;
import io.plumbline.topology.HostileBytes;
import io.plumbline.topology.report.Json;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AssessmentCodecsTest {

    private record Numbers(Double some, List<Double> many, double plain) {}

    @Test
    void messagesToTheAdapterArriveAsTheyWereSent() {
        AdaptationMessage.Adapt adapt = new AdaptationMessage.Adapt(
                20, 10, List.of(new AdaptationMessage.BlockRows(null, 5_000_000_000L, 4_096, 3)));
        assertEquals(adapt, AdaptationMessage.decode(adapt.encode()));
        HostileBytes.check(adapt.encode(), AdaptationMessage::decode);
        AdaptationMessage.Revert revert = new AdaptationMessage.Revert(20);
        assertEquals(revert, AdaptationMessage.decode(revert.encode()));
        HostileBytes.check(revert.encode(), AdaptationMessage::decode);
        AdaptationMessage.Adapt blocks = new AdaptationMessage.Adapt(
                20,
                10,
                List.of(
                        new AdaptationMessage.BlockRows(1, 5_000_000_000L, 4_096, 3),
                        new AdaptationMessage.BlockRows(25, 7, 8, 1)));
        assertEquals(blocks, AdaptationMessage.decode(blocks.encode()));
        HostileBytes.check(blocks.encode(), AdaptationMessage::decode);
        AdaptationMessage.SamplePart part = new AdaptationMessage.SamplePart(20, 2, new byte[] {1, 2, 3});
        AdaptationMessage.SamplePart read =
                assertInstanceOf(AdaptationMessage.SamplePart.class, AdaptationMessage.decode(part.encode()));
        assertEquals(20, read.windowEndMs());
        assertEquals(2, read.index());
        assertArrayEquals(new byte[] {1, 2, 3}, read.part());
        HostileBytes.mutate(part.encode(), AdaptationMessage::decode);
        AdaptationMessage.RequestPart requests = assertInstanceOf(
                AdaptationMessage.RequestPart.class,
                AdaptationMessage.decode(new AdaptationMessage.RequestPart(20, 3, new byte[] {4, 5}).encode()));
        assertEquals(20, requests.windowEndMs());
        assertEquals(3, requests.index());
        assertArrayEquals(new byte[] {4, 5}, requests.part());
        assertThrows(IllegalArgumentException.class, () -> AdaptationMessage.decode(Arrays.copyOf(part.encode(), 13)));
    }

    @Test
    void whatIsRememberedOfSeveralTargetsHoldsNoRequest() {
        byte[] targets = new TargetsMemory(Map.of(
                        20L,
                        new TargetsMemory.Window(
                                List.of(), List.of(new AdaptationMessage.BlockRows(1, 5, 8, 1)), true)))
                .encode();
        assertSame(targets, WindowAssessor.without(targets, 7, "request"));
        byte[] foreign = {9, 9};
        assertThrows(IllegalStateException.class, () -> WindowAssessor.without(foreign, 7, "request"));
    }

    @Test
    void theMemoryOfASiteComesBackAsItWas() {
        SiteMemory memory = new SiteMemory(
                new DriftState(true, 3, 5),
                new DriftState(false, 2, 1),
                1_700_000_000_000L,
                true,
                new SwapWatch(4, 3, 1),
                new CoverageWatch(7, 2, 1.5, 0.25),
                new SiteMemory.Trials("ab".repeat(32), "cd".repeat(32), 7, 4, 11),
                KnownOriginsTest.known(),
                RecentGroups.NONE,
                Map.of());
        assertEquals(memory, SiteMemory.decode(memory.encode()));
        assertEquals(
                SiteMemory.initial(), SiteMemory.decode(SiteMemory.initial().encode()));
        HostileBytes.check(memory.encode(), SiteMemory::decode);
        SequentialState state = SequentialDetector.ofRunLength(100)
                .next(SequentialState.INITIAL, new double[] {0.5}, new double[] {1, 0}, true)
                .state();
        SiteMemory detecting = new SiteMemory(
                DriftState.INITIAL,
                DriftState.INITIAL,
                5,
                false,
                SwapWatch.NONE,
                new CoverageWatch(7, 2, 1.5, 0.25),
                new SiteMemory.Trials("ab".repeat(32), "cd".repeat(32), 7, 4, 11),
                KnownOriginsTest.known(),
                RecentGroups.NONE,
                Map.of("eta", state, "gap_share", SequentialState.INITIAL));
        assertEquals(detecting, SiteMemory.decode(detecting.encode()));
        HostileBytes.check(detecting.encode(), SiteMemory::decode);
    }

    @Test
    void aMemoryOfAnotherVersionIsRefused() {
        byte[] old = SiteMemory.initial().encode();
        old[0]--;
        assertThrows(IllegalStateException.class, () -> SiteMemory.decode(old));
    }

    @Test
    void numbersThatAreNoneAreNullInJson() {
        assertEquals(
                "{\"some\":null,\"many\":[1.5,null],\"plain\":null}",
                Json.text(new Numbers(Double.NaN, List.of(1.5, Double.POSITIVE_INFINITY), Double.NaN)));
    }

    @Test
    void whatIsNotTheJsonOfATypeIsRefusedByName() {
        for (String bad : List.of("", "{", "[]", "null", "{\"plain\":\"x\"}")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> Json.read(bad.getBytes(StandardCharsets.UTF_8), Numbers.class),
                    bad);
        }
    }
}
