package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.Decoder;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.requests.WholeRequests;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests which whole requests judge a refit, and which say what candidate to take. */
class BehaviourGateTest {

    private static final int REQUESTS = 24;

    private @Nullable List<byte[]> heldOut;
    private @Nullable List<byte[]> choosing;

    /** Remembers what it was given. */
    private final class Remembering implements BehaviourProbe {

        @Override
        public WindowBehaviour measure(List<byte[]> requests, @Nullable Decoder active) {
            throw new AssertionError("no window is measured here");
        }

        @Override
        @SuppressWarnings("NullAway") // Nobody asks this judge.
        public BehaviourJudge judge(List<byte[]> judging, @Nullable List<byte[]> toChoose, List<byte[]> normal) {
            heldOut = judging;
            choosing = toChoose;
            return null;
        }

        @Override
        public void close() {}
    }

    private static SampleSplit split() {
        List<SampledRow> rows = new ArrayList<>();
        for (int row = 0; row < 2 * REQUESTS; row++) {
            rows.add(new SampledRow(row, row / 2, row / 2, new float[] {row}, null));
        }
        return SampleSplit.of(rows, 0.25);
    }

    private void gate(SelectBy selectBy, SampleSplit split) {
        List<WholeRequests.Kept> whole = new ArrayList<>();
        for (int request = 0; request < REQUESTS; request++) {
            whole.add(new WholeRequests.Kept(request, request, new byte[] {(byte) request}));
        }
        new BehaviourGate(new Remembering(), selectBy, List.of()).judge(split, whole);
    }

    private static Set<Integer> numbers(@Nullable List<byte[]> requests) {
        Set<Integer> numbers = new TreeSet<>();
        if (requests != null) {
            requests.forEach(request -> numbers.add((int) request[0]));
        }
        return numbers;
    }

    private static Set<Integer> requests(List<SampledRow> rows) {
        return rows.stream().map(row -> (int) row.request()).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theModelChoosesOnTheRequestsThatFvuWouldChooseOn() {
        SampleSplit split = split();
        gate(SelectBy.KL, split);
        assertEquals(requests(split.judge()), numbers(heldOut));
        assertEquals(requests(split.choose()), numbers(choosing));
        assertEquals(5, numbers(choosing).size(), "a test without requests would claim nothing");
    }

    @Test
    void whereFvuChoosesTheModelIsNotAskedWhichCandidate() {
        gate(SelectBy.FVU, split());
        assertNull(choosing);
    }
}
