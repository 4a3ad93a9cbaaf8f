package io.plumbline.topology.assessment;

import io.plumbline.groups.RecentGroups;
import io.plumbline.judgement.DriftState;
import io.plumbline.topology.fuzz.FuzzTarget;
import io.plumbline.topology.fuzz.Part;
import java.util.List;
import java.util.Map;

/** Reads what this stage and the adapter read of others. */
public final class AssessmentTargets {

    private AssessmentTargets() {}

    private static AdaptationMessage adapt(Integer target) {
        return new AdaptationMessage.Adapt(60_000, 0, List.of(new AdaptationMessage.BlockRows(target, 512, 4096, 2)));
    }

    public static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "adaptation message",
                        Part.BYTES,
                        List.of(
                                new AdaptationMessage.SamplePart(60_000, 1, new byte[] {1, 2, 3}).encode(),
                                adapt(null).encode(),
                                adapt(3).encode(),
                                new AdaptationMessage.Revert(60_000).encode()),
                        8,
                        bytes -> AdaptationMessage.decode(bytes).encode()),
                FuzzTarget.of(
                        "site memory",
                        Part.BYTES,
                        List.of(
                                SiteMemory.initial().encode(),
                                new SiteMemory(
                                                new DriftState(true, 3, 5),
                                                DriftState.INITIAL,
                                                60_000,
                                                true,
                                                new SwapWatch(4, 3, 1),
                                                new CoverageWatch(7, 2, 1.5, 0.25),
                                                new SiteMemory.Trials("ab".repeat(32), "cd".repeat(32), 7, 4, 11),
                                                KnownOriginsTest.known(),
                                                RecentGroups.NONE,
                                                Map.of())
                                        .encode()),
                        8,
                        bytes -> SiteMemory.decode(bytes).encode()),
                FuzzTarget.of(
                        "drift state",
                        Part.BYTES,
                        List.of(DriftState.INITIAL.encode(), new DriftState(true, 64, -1).encode()),
                        8,
                        bytes -> DriftState.decode(bytes).encode()));
    }
}
