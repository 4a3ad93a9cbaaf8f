package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.plumbline.linalg.kernel.UpdateKernels.Choice;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StandingChoiceTest {

    private static final Choice FAST = new Choice(new PlainKernel(), "fast", false, false);
    private static final Choice TOO_SLOW = new Choice(new PlainKernel(), "too slow in its trial", true, true);
    private static final Choice MISSING = new Choice(new PlainKernel(), "no module", true, false);

    private final Deque<Runnable> later = new ArrayDeque<>();

    @Test
    void aChoiceThatTheTimesOfATrialDecidedIsMadeAgainUntilTheFastKernelWins() {
        Deque<Choice> trials = new ArrayDeque<>(List.of(TOO_SLOW, TOO_SLOW, FAST));
        StandingChoice choice = new StandingChoice(trials::remove, later::add);
        assertSame(TOO_SLOW, choice.get());
        later.remove().run();
        assertSame(TOO_SLOW, choice.get());
        later.remove().run();
        assertSame(FAST, choice.get());
        assertEquals(0, later.size());
        assertEquals(0, trials.size());
    }

    @Test
    void aChoiceThatNoLaterTrialCanChangeIsMadeOnce() {
        for (Choice made : new Choice[] {FAST, MISSING}) {
            AtomicInteger trials = new AtomicInteger();
            StandingChoice choice = new StandingChoice(
                    () -> {
                        trials.incrementAndGet();
                        return made;
                    },
                    later::add);
            assertSame(made, choice.get());
            assertSame(made, choice.get());
            assertEquals(1, trials.get());
            assertEquals(0, later.size());
        }
    }

    @Test
    void aKernelThatIsNeverFasterIsNotTriedForever() {
        AtomicInteger trials = new AtomicInteger();
        StandingChoice choice = new StandingChoice(
                () -> {
                    trials.incrementAndGet();
                    return TOO_SLOW;
                },
                later::add);
        assertSame(TOO_SLOW, choice.get());
        while (!later.isEmpty()) {
            later.remove().run();
        }
        assertEquals(StandingChoice.MOST_TRIALS, trials.get());
    }
}
