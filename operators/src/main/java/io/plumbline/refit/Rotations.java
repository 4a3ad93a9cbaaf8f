package io.plumbline.refit;

import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.parallel.Cores;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;

/**
 * Step 1 of each rank and rotation that a window's refits use, computed once.
 *
 * <p><b>Cost.</b> The window's second moment, {@code N d^2} flops by one core; its leading eigenspace for each rank; a
 * {@link StepOne} for each rank and rotation. Most of it keeps one core busy, so that {@link #ahead} has another core
 * begin while ridge levels are factored. <b>Size.</b> {@code 8 d^2} bytes, and for each pair {@code 16 d r}, with a
 * full-rank rotation {@code 8 d^2} more. Any number of threads, one at a time.
 */
public final class Rotations {

    private final RefitInputs inputs;
    private final Map<Integer, ActiveSubspace> windows = new HashMap<>();
    private final Map<RankAndRotation, StepOne> stepOnes = new HashMap<>();
    private @Nullable Matrix moment;

    private record RankAndRotation(int rank, Rotation rotation) {}

    private Rotations(RefitInputs inputs) {
        this.inputs = inputs;
    }

    /** Returns the rotations onto these inputs' window. Nothing is computed yet. */
    public static Rotations of(RefitInputs inputs) {
        return new Rotations(inputs);
    }

    /** Has another core, where there is one, begin with what these settings need. Returns at once. */
    public Rotations ahead(List<GaeSettings> all) {
        List<GaeSettings> turned = all.stream().filter(this::rotates).toList();
        if (!turned.isEmpty() && Cores.threads() > 1) {
            ForkJoinPool.commonPool().execute(() -> turned.forEach(this::determined));
        }
        return this;
    }

    private boolean rotates(GaeSettings settings) {
        return settings.rank() < inputs.trained().dimension();
    }

    /** Returns Step 1 with these settings; null where it is not determined, for the reason that {@link #of} gives. */
    @Nullable
    StepOne determined(GaeSettings settings) {
        try {
            return of(settings);
        } catch (ArithmeticException undetermined) {
            return null;
        }
    }

    /**
     * Returns Step 1 with these settings.
     *
     * @throws ArithmeticException if the rows or the trained decoder do not determine it
     */
    StepOne of(GaeSettings settings) {
        // Not behind the rotations that another core may be at.
        return rotates(settings) ? rotation(settings) : computed(settings, null);
    }

    private synchronized StepOne rotation(GaeSettings settings) {
        RankAndRotation key = new RankAndRotation(settings.rank(), settings.rotation());
        StepOne known = stepOnes.get(key);
        if (known == null) {
            known = computed(settings, windows.computeIfAbsent(settings.rank(), this::window));
            stepOnes.put(key, known);
        }
        return known;
    }

    /** @param window null where nothing is rotated */
    private StepOne computed(GaeSettings settings, @Nullable ActiveSubspace window) {
        ExplainerSubspace trained = inputs.trainedSubspace();
        String reason = window == null
                ? Identifiability.undecided(trained, settings.rank())
                : Identifiability.undecided(trained, window, inputs.rows());
        if (reason != null) {
            throw new ArithmeticException(reason);
        }
        return window == null ? StepOne.identity(trained) : StepOne.of(trained, window, settings.rotation());
    }

    private ActiveSubspace window(int rank) {
        Matrix known = moment;
        if (known == null) {
            known = SecondMoment.of(inputs.window()).matrix();
            moment = known;
        }
        return ActiveSubspace.leadingOnly(known, rank, null);
    }
}
