package io.plumbline.explainer;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;
import java.util.Arrays;

/**
 * Takes the feature that goes best with what is left of a row, takes it off, and goes on: {@code j = argmax relu(r .
 * w_j)}, {@code z_j += v}, {@code r -= v w_j} with {@code v} the inner product. It ends after so many steps, when a
 * step adds no new feature, or when the rest is short enough; as SAELens has it.
 *
 * <p>Its directions are the decoder's: another decoder is another encoder, so such an explainer is watched and not
 * refitted.
 *
 * <p>{@code 2 features inputs} flops a step.
 */
public final class MatchingPursuitEncoder implements Encoder {

    private static final int ROWS_PER_BLOCK = 16;

    /**
     * Says when the encoder stops.
     *
     * @param mostSteps at most so many
     * @param shortestRest ends below this length of the rest; 0: never
     * @param onKnownFeature whether it ends when a step takes a feature that is active already
     */
    public record Ending(int mostSteps, double shortestRest, boolean onKnownFeature) {}

    private final Weights directions;
    private final double[] origin;
    private final Ending ending;

    /**
     * @param directions features x inputs, row j = feature j
     * @param origin taken off a row first
     */
    public MatchingPursuitEncoder(Weights directions, double[] origin, Ending ending) {
        if (directions.columns() != origin.length) {
            throw new IllegalArgumentException(
                    "directions of %d values, an origin of %d".formatted(directions.columns(), origin.length));
        }
        this.directions = directions;
        this.origin = origin.clone();
        this.ending = ending;
    }

    @Override
    public int inputWidth() {
        return origin.length;
    }

    @Override
    public int features() {
        return directions.rows();
    }

    @Override
    public SparseCodes encode(Matrix rows) {
        if (rows.columns() != inputWidth()) {
            throw new IllegalArgumentException(
                    "rows of %d values, the encoder reads %d".formatted(rows.columns(), inputWidth()));
        }
        int blocks = (rows.rows() + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
        SparseCodes[] parts = new SparseCodes[blocks];
        Cores.each(blocks, block -> {
            int from = block * ROWS_PER_BLOCK;
            int to = Math.min(rows.rows(), from + ROWS_PER_BLOCK);
            SparseCodes.Builder codes = new SparseCodes.Builder(to - from, features());
            for (int row = from; row < to; row++) {
                double[] code = pursue(rows, row);
                for (int j = 0; j < code.length; j++) {
                    codes.add(j, code[j]);
                }
                codes.endRow();
            }
            parts[block] = codes.build();
        });
        return SparseCodes.joined(features(), Arrays.asList(parts));
    }

    private double[] pursue(Matrix rows, int row) {
        double[] rest = new double[inputWidth()];
        for (int i = 0; i < rest.length; i++) {
            rest[i] = rows.get(row, i) - origin[i];
        }
        double[] direction = new double[rest.length];
        double[] code = new double[features()];
        for (int step = 0; step < ending.mostSteps(); step++) {
            int best = 0;
            double most = 0.0;
            for (int j = 0; j < code.length; j++) {
                directions.copyTo(j * rest.length, direction, 0, rest.length);
                double product = Kernels.dot(direction, 0, rest, 0, rest.length);
                if (product > most) {
                    most = product;
                    best = j;
                }
            }
            if (most == 0.0) {
                break;
            }
            boolean known = code[best] != 0.0;
            code[best] += most;
            directions.addRow(-most, best, rest, 0);
            if ((known && ending.onKnownFeature())
                    || (ending.shortestRest() > 0.0
                            && Math.sqrt(Kernels.dot(rest, 0, rest, 0, rest.length)) < ending.shortestRest())) {
                break;
            }
        }
        return code;
    }
}
