package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class AdaptationWarmUpTest {

    /** Else a part of what a real adaptation runs would not be compiled. */
    @Test
    void aRoundFitsEveryCandidateAndJudgesADecoderThatWasPutTogether() {
        GatedAdaptation adaptation = new AdaptationWarmUp().search();
        assertFalse(adaptation.search().keepsCurrent(), adaptation.search()::toString);
        for (SearchReport.Figures figures : adaptation.search().candidates()) {
            assertNotNull(figures.fit(), figures.candidate()::describe);
        }
        assertNotNull(adaptation.decision().figures().gapAfter());
    }

    @Test
    void aRoundMakesASingleRefitOfFactorsToo() {
        GatedAdaptation adaptation = new AdaptationWarmUp().refit();
        assertFalse(adaptation.search().keepsCurrent(), adaptation.search()::toString);
        assertNotNull(adaptation.search().factors());
        assertNotNull(adaptation.decision().figures().gapAfter());
    }

    @Test
    void itEndsAfterTheRoundInWhichTheTimeIsOver() {
        assertEquals(1, AdaptationWarmUp.run(Duration.ZERO));
    }
}
