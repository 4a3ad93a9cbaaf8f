package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.StripedTriangle;
import io.plumbline.linalg.kernel.TileKernel;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;

/**
 * Says what follows for all eigenvalues once those outside of the first {@code known} Ritz vectors are known to be
 * below {@code level}, and proves that: {@link TopEigenspace} says how.
 *
 * <p>The proof in float32 takes half the time and bounds eigenvalues less tightly, by {@link FloatCholesky#share}
 * of a trace: 0.6 % of the level at most at d = 768 and 2 % at 2,048. Where eigenvalues around the rank lie closer to
 * each other than that, it takes float64.
 *
 * @param atMost proven upper bounds of all eigenvalues, descending
 * @param sineBound of the leading eigenspace; infinite where nothing follows
 * @param single whether it allows for a proof in float32
 */
record EigenspaceProof(int known, double level, double[] atMost, double sineBound, boolean single) {

    private static final int WIDTH = StripedTriangle.WIDTH;

    /**
     * The best that the residuals promise to be provable.
     *
     * @param margin how many residuals above a Ritz value its eigenvalue is looked for; too few, and the proof fails
     */
    static EigenspaceProof of(Matrix psd, BlockIteration found, int rank, double rounding, int margin, boolean single) {
        int d = psd.rows();
        double[] values = found.values();
        int known = rank;
        double level = Double.POSITIVE_INFINITY;
        double worst = 0.0;
        // The last vectors of the block have converged least: eigenvalues after them may be larger than their Ritz
        // values.
        for (int q = rank; q <= rank + (found.size() - rank) * 3 / 4; q++) {
            worst = Math.max(worst, found.residuals()[q]);
            double candidate = values[q] + margin * worst;
            if (candidate < level) {
                level = candidate;
                known = q;
            }
        }
        level += 2.0 * rounding;
        double rest = psd.trace();
        for (int i = 0; i < known; i++) {
            rest -= values[i];
        }
        double factoring =
                single ? FloatCholesky.share(d) * (d * (level + rounding) - rest) : (d + 3) * 0x1p-53 * d * level;
        double sigma = level + factoring + rounding;
        double from = values[rank] > sigma ? 0.5 * (sigma + values[rank]) : sigma + 0.05 * (values[rank - 1] - sigma);
        from = Math.max(from, sigma + rounding);
        Matrix residual = found.residualRows(known);
        Matrix raised = Kernels.multiplyTranspose(residual, residual);
        for (int i = 0; i < raised.values().length; i++) {
            raised.values()[i] /= from - sigma;
        }
        for (int i = 0; i < known; i++) {
            raised.set(i, i, raised.get(i, i) + values[i]);
        }
        double[] raisedValues = LeadingEigenpairs.values(raised);
        double[] atMost = new double[d];
        for (int i = 0; i < d; i++) {
            // The eigenvalues between the known ones and this one are no smaller, and together no more than what is
            // left.
            atMost[i] = i < known
                    ? Math.max(from, raisedValues[i]) + rounding
                    : Math.min(sigma, Math.max(rest, 0.0) / (i - known + 1) + rounding);
        }
        double separation = values[rank - 1] - atMost[rank];
        double sine = separation > 0.0
                ? (found.residual() + Math.sqrt(rank) * rounding) / separation
                : Double.POSITIVE_INFINITY;
        return new EigenspaceProof(known, level, atMost, sine, single);
    }

    /** Returns whether {@code level I - M + W Theta W^T} is positive definite, W the first {@code known} vectors. */
    boolean isProven(Matrix psd, BlockIteration found) {
        return isBelow(psd, found, known, level, single);
    }

    static boolean isBelow(Matrix psd, BlockIteration found, int known, double level, boolean single) {
        int d = psd.rows();
        UpdateKernel kernel = UpdateKernels.kernel();
        double[][] basis = flatStrips(found.vectors(), known);
        if (single) {
            int scale = -Math.getExponent(level);
            float[][] negative = new float[(basis.length + 1) / 2][];
            Cores.each(negative.length, (double) d * d * known, wide -> {
                float[] rows = new float[(wide + 1) * FloatCholesky.WIDTH * FloatCholesky.WIDTH];
                for (int side = 0; side < 2; side++) {
                    int strip = 2 * wide + side;
                    if (strip < basis.length) {
                        round(negativeStrip(psd, found, basis, strip, known, level), scale, rows, side * WIDTH);
                    } else {
                        for (int row = strip * WIDTH; row < (strip + 1) * WIDTH; row++) {
                            rows[row * FloatCholesky.WIDTH + row - wide * FloatCholesky.WIDTH] = -1f;
                        }
                    }
                }
                negative[wide] = rows;
            });
            return FloatCholesky.holds(negative, kernel.floatTiles());
        }
        double[][] negative = new double[basis.length][];
        Cores.each(
                basis.length,
                (double) d * d * known,
                strip -> negative[strip] = negativeStrip(psd, found, basis, strip, known, level));
        try {
            StripedTriangle unused = StripedTriangle.factorOf(negative, d, kernel.tiles());
            return true;
        } catch (ArithmeticException notDefinite) {
            return false;
        }
    }

    /** Writes a strip times a power of two as floats into wider rows, from {@code column} on. */
    private static void round(double[] strip, int scale, float[] rows, int column) {
        double factor = Math.scalb(1.0, scale);
        for (int row = 0; row < strip.length / WIDTH; row++) {
            for (int j = 0; j < WIDTH; j++) {
                rows[row * FloatCholesky.WIDTH + column + j] = (float) (strip[row * WIDTH + j] * factor);
            }
        }
    }

    /** A strip of the upper triangle of {@code M - W Theta W^T - level I}, filled up with the latter. */
    private static double[] negativeStrip(
            Matrix psd, BlockIteration found, double[][] basis, int strip, int known, double level) {
        TileKernel kernel = UpdateKernels.kernel().tiles();
        double[] rows = StripedTriangle.upperPart(psd, strip);
        for (int row = strip * WIDTH; row < (strip + 1) * WIDTH; row++) {
            rows[row * WIDTH + row - strip * WIDTH] -= level;
        }
        double[] scaled = basis[strip].clone();
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] *= -found.values()[i / WIDTH];
        }
        for (int group = 0; group <= strip; group++) {
            kernel.addSquare(basis[group], 0, scaled, 0, known, rows, group * WIDTH * WIDTH);
        }
        return rows;
    }

    /** The first {@code count} rows, a strip of their columns after the other. */
    private static double[][] flatStrips(Matrix rows, int count) {
        int d = rows.columns();
        double[][] strips = new double[(d + WIDTH - 1) / WIDTH][count * WIDTH];
        for (int row = 0; row < count; row++) {
            for (int strip = 0; strip < strips.length; strip++) {
                int length = Math.min(WIDTH, d - strip * WIDTH);
                System.arraycopy(rows.values(), row * d + strip * WIDTH, strips[strip], row * WIDTH, length);
            }
        }
        return strips;
    }
}
