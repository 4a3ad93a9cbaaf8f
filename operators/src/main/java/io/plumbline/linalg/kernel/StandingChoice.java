package io.plumbline.linalg.kernel;

import io.plumbline.linalg.kernel.UpdateKernels.Choice;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the choice of a process, made when it is first asked for. One that only a trial's times have decided against is
 * made again later, up to {@value #MOST_TRIALS} times in all: while other load kept the compiler waiting, the fast
 * kernel may not have been compiled yet.
 *
 * <p>Thread-safe. A later trial holds up nobody: the choice that stands is answered until then.
 */
final class StandingChoice {

    static final int MOST_TRIALS = 6;

    private final Supplier<Choice> trial;
    private final Executor later;
    private volatile @Nullable Choice standing;

    /**
     * @param later runs what it is given after a while
     */
    StandingChoice(Supplier<Choice> trial, Executor later) {
        this.trial = trial;
        this.later = later;
    }

    Choice get() {
        Choice known = standing;
        return known != null ? known : first();
    }

    private synchronized Choice first() {
        Choice known = standing;
        return known != null ? known : make(1);
    }

    private Choice make(int trials) {
        Choice made = trial.get();
        standing = made;
        if (made.bySpeedAlone() && trials < MOST_TRIALS) {
            later.execute(() -> make(trials + 1));
        }
        return made;
    }
}
