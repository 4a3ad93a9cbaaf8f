package io.plumbline.refit;

import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The leading directions of the drifted rows alone, at each rank found once. One owner, who may change. */
final class WindowDirections {

    private final Matrix targets;
    private final Map<Integer, ActiveSubspace> known = new HashMap<>();
    private @Nullable Matrix moment;

    WindowDirections(Matrix targets) {
        this.targets = targets;
    }

    ActiveSubspace at(int rank) {
        return known.computeIfAbsent(rank, wanted -> ActiveSubspace.leadingOnly(sum(), wanted, null));
    }

    /** Returns whether what all ranks need is there. */
    boolean isSummed() {
        return moment != null;
    }

    /** The second moment of the rows, {@code N d^2} flops by one core the first time. */
    Matrix sum() {
        Matrix known = moment;
        if (known == null) {
            known = SecondMoment.of(targets).matrix();
            moment = known;
        }
        return known;
    }
}
