package io.plumbline.refit;

import io.plumbline.linalg.Matrix;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * A level that is needed only inside the windows' subspaces from now on: its solutions times the narrow matrices of
 * some Step 1 each, {@code 16 N r} bytes. Neither the factorisation nor the N x d solutions are kept.
 */
final class NarrowLevel implements RidgeLevel, ProductsOnly {

    // By identity: every set of rows asks for the matrices of the same few.
    private final IdentityHashMap<Matrix, Matrix> targets = new IdentityHashMap<>();
    private final IdentityHashMap<Matrix, Matrix> trained = new IdentityHashMap<>();

    /** @param stepOnes those whose L and V will be asked for */
    NarrowLevel(Solutions whole, List<StepOne> stepOnes) {
        for (StepOne stepOne : stepOnes) {
            Matrix turn = stepOne.turn();
            Matrix basis = stepOne.basis();
            if (turn != null && basis != null) {
                trained.put(turn, whole.trainedTimes(turn));
                targets.put(basis, whole.targetsTimes(basis));
            }
        }
    }

    @Override
    public Solutions on(RefitRows rows) {
        return new OnRows(this, rows);
    }

    @Override
    public Matrix targetsTimes(Matrix x) {
        return kept(targets, x);
    }

    @Override
    public Matrix trainedTimes(Matrix x) {
        return kept(trained, x);
    }

    private static Matrix kept(IdentityHashMap<Matrix, Matrix> products, Matrix x) {
        Matrix product = products.get(x);
        if (product == null) {
            throw new IllegalStateException("a product with %s was not kept".formatted(x));
        }
        return product;
    }

    private record OnRows(NarrowLevel level, RefitRows rows) implements ProductsOnly {

        @Override
        public Matrix targetsTimes(Matrix x) {
            return rows.times(level.targetsTimes(x));
        }

        @Override
        public Matrix trainedTimes(Matrix x) {
            return rows.times(level.trainedTimes(x));
        }
    }
}
