package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.judgement.DriftPolicy;
import org.junit.jupiter.api.Test;

class TrialsTest {

    private static final DriftPolicy RULE = new DriftPolicy(3, 5);
    private static final ExplainerTrial BETTER = trial(12, 1.0);
    private static final ExplainerTrial ALIKE = trial(12, 0.0);
    private static final ExplainerTrial TOO_FEW = trial(3, 1.0);

    private static ExplainerTrial trial(int requests, double difference) {
        ExplainerTrial.Figures figures = new ExplainerTrial.Figures(0.5, 1.0, 1);
        return new ExplainerTrial(new PairedErrors(requests, difference, 0.1), requests, figures, figures, 0.1);
    }

    private static SiteMemory.Trials after(SiteMemory.Trials before, ExplainerTrial... windows) {
        SiteMemory.Trials trials = before;
        for (ExplainerTrial window : windows) {
            trials = trials.after(0, "x", window, RULE);
        }
        return trials;
    }

    @Test
    void theLastWindowsCount() {
        SiteMemory.Trials trials = after(SiteMemory.Trials.NONE, BETTER, BETTER, ALIKE, BETTER);
        assertEquals(3, trials.betterWindows());
        assertEquals(4, trials.windows());
        trials = after(trials, ALIKE, ALIKE, ALIKE);
        assertEquals(1, trials.betterWindows());
        assertEquals(5, trials.windows());
    }

    @Test
    void aWindowOfFewRequestsCountsForNeither() {
        SiteMemory.Trials trials = after(SiteMemory.Trials.NONE, BETTER, BETTER);
        assertEquals(trials, after(trials, TOO_FEW));
    }

    @Test
    void anotherCandidateAndAnotherDecoderInServiceBeginAnew() {
        SiteMemory.Trials trials = after(SiteMemory.Trials.NONE, BETTER, BETTER, BETTER);
        assertEquals(0, trials.after(0, "y", ALIKE, RULE).betterWindows());
        assertEquals(1, trials.after(1, "x", BETTER, RULE).betterWindows());
        assertEquals(0, trials.after(1, "x", TOO_FEW, RULE).windows());
        assertEquals(1, trials.after(0, "x", TOO_FEW, new DriftPolicy(1, 1)).betterWindows());
    }
}
