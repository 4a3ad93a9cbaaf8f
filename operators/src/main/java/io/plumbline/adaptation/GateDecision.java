package io.plumbline.adaptation;

import io.plumbline.refit.Reconstruction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a refitted decoder may replace the one in service: only if every test lets it.
 *
 * @param behaviour what the model does with the refit; null where the rest of the model is not at hand, or nothing is
 *     proposed
 * @param tests all of them, also after one has failed
 */
public record GateDecision(Figures figures, @Nullable Behaviour behaviour, List<GateTest> tests) {

    /** The tests that say what is gained. */
    private static final Set<String> GAINS = Set.of(GateTest.IMPROVEMENT, GateTest.BEHAVIOUR);

    public GateDecision {
        tests = List.copyOf(tests);
    }

    /** Returns this decision with one more test. */
    GateDecision with(Behaviour found) {
        return new GateDecision(figures, found, with(found.test()).tests);
    }

    /** Returns this decision with one more test. */
    GateDecision with(GateTest test) {
        List<GateTest> all = new ArrayList<>(tests);
        all.add(test);
        return new GateDecision(figures, behaviour, all);
    }

    public boolean publishes() {
        return tests.stream().allMatch(GateTest::passed);
    }

    /** Returns what the failed tests found, or where none failed what is gained. */
    public String reason() {
        return tests.stream()
                .filter(test -> publishes() ? GAINS.contains(test.name()) : !test.passed())
                .map(GateTest::finding)
                .collect(Collectors.joining("; "));
    }

    /**
     * The figures of a decision, measured on held-out rows but for the last two.
     *
     * @param before the decoder in service
     * @param after the proposed decoder
     * @param improvement share of the error taken away, over requests
     * @param latest the same share over the latest requests alone
     * @param gapBefore gap of the decoder in service to the active subspace of the held-out rows; null where that is
     *     not identified
     * @param gapAfter the same of the proposed decoder
     * @param largestGap {@code sqrt(2 min(r, d - r))}
     * @param features what became of the columns
     * @param idTrained the trained decoder on rows of the baseline; null without such rows
     * @param idProposed the proposed decoder on the same rows
     */
    public record Figures(
            int rank,
            Reconstruction before,
            Reconstruction after,
            PairedImprovement improvement,
            PairedImprovement latest,
            @Nullable Double gapBefore,
            @Nullable Double gapAfter,
            double largestGap,
            FeatureChange features,
            @Nullable Reconstruction idTrained,
            @Nullable Reconstruction idProposed) {

        /** Returns FVU on rows of the baseline above that of the trained decoder; null without such rows. */
        public @Nullable Double idCost() {
            return idTrained == null || idProposed == null ? null : idProposed.fvu() - idTrained.fvu();
        }
    }
}
