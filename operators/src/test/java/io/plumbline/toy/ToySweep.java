package io.plumbline.toy;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;

/** The moments of stream 1 at every severity, after 2,048 and after 20,000 rows: about 40 GFLOP, made once. */
final class ToySweep {

    private static final int WINDOW = 2048;
    private static final int ROWS = 20_000;

    private final SecondMoment[] small = new SecondMoment[ToyStream.SEVERITIES];
    private final SecondMoment[] large = new SecondMoment[ToyStream.SEVERITIES];

    ToySweep(ToyStream stream) {
        for (int severity = 0; severity < ToyStream.SEVERITIES; severity++) {
            SecondMomentAccumulator accumulator = SecondMomentAccumulator.ofDimension(ToyStream.HIDDEN_WIDTH);
            for (int from = 0; from < ROWS; from += WINDOW) {
                Matrix hidden = stream.rows(severity, 1, from, Math.min(WINDOW, ROWS - from))
                        .hidden();
                accumulator.add(hidden);
                if (from == 0) {
                    small[severity] = accumulator.snapshot();
                }
            }
            large[severity] = accumulator.snapshot();
        }
    }

    SecondMoment windowOf2048(int severity) {
        return small[severity];
    }

    SecondMoment windowOf20000(int severity) {
        return large[severity];
    }
}
