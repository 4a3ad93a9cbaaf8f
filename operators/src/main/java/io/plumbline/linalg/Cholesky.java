package io.plumbline.linalg;

/**
 * The factorisation {@code A = R^T R} of a symmetric positive definite matrix, R upper triangular.
 *
 * <p>Block by block: {@value #BLOCK} rows are worked on in plain loops, and what they mean for the rest is a product of the
 * {@link UpdateKernel}.
 *
 * <p><b>Cost.</b> {@code n^3 / 3} flops to factor, {@code 2 n^2 m} to solve for m right-hand sides. <b>Size.</b> {@code 8 n^2}
 * bytes. <b>Accuracy.</b> Backward stable: the computed solution solves a system that differs from the given one by a small
 * multiple of {@code n 2^-53 ||A||}.
 *
 * <p>Immutable after construction; any number of threads may solve with it.
 */
public final class Cholesky {

    private static final int BLOCK = 64;

    /** Rows of the rest that are updated together: a product of so many starts at their diagonal. */
    private static final int REST_ROWS = 256;

    /** Right-hand sides that are solved for together; each has its own sums, whatever stands beside it. */
    private static final int COLUMNS = 192;

    /** R; what is below its diagonal is not looked at. */
    private final Matrix upper;

    private Cholesky(Matrix upper) {
        this.upper = upper;
    }

    /**
     * Factors {@code matrix}, of which only the upper triangle is read.
     *
     * @throws ArithmeticException if a pivot is not positive: the matrix is not positive definite to working precision
     */
    public static Cholesky of(Matrix matrix) {
        int n = matrix.rows();
        if (n != matrix.columns()) {
            throw new IllegalArgumentException("not square: %d x %d".formatted(n, matrix.columns()));
        }
        Matrix upper = matrix.copy();
        for (int start = 0; start < n; start += BLOCK) {
            int end = Math.min(start + BLOCK, n);
            double[][] rows = rowsFrom(upper, start, end, start);
            factorRows(rows, start, matrix);
            writeBack(rows, upper, start, start);
            int first = start;
            Cores.each((n - end + REST_ROWS - 1) / REST_ROWS, part -> {
                int row = end + part * REST_ROWS;
                int last = Math.min(row + REST_ROWS, n);
                RightFactor factor =
                        UpdateKernels.kernel().rightFactor(Operand.of(negated(rows, row - first, n - row)));
                factor.addProduct(
                        Operand.partOf(upper, first, end, row, last).transposed(), upper.values(), row * n + row, n);
            });
        }
        return new Cholesky(upper);
    }

    /** Row i of {@code rows} is row {@code start + i} of A less what rows before {@code start} take, from its column start on. */
    private static void factorRows(double[][] rows, int start, Matrix matrix) {
        double[] factors = new double[rows.length];
        for (int i = 0; i < rows.length; i++) {
            for (int h = 0; h < i; h++) {
                factors[h] = rows[h][i];
            }
            int length = rows[i].length;
            RowUpdates.subtract(rows[i], factors, rows, 0, i, i, length);
            double pivot = rows[i][i];
            if (!(pivot > 0.0)) {
                throw new ArithmeticException("not positive definite: pivot %d of %d is %s (of a diagonal entry %s)"
                        .formatted(start + i, matrix.rows(), pivot, matrix.get(start + i, start + i)));
            }
            double root = Math.sqrt(pivot);
            for (int j = i; j < length; j++) {
                rows[i][j] /= root;
            }
        }
    }

    /** The size n of the factored matrix. */
    public int size() {
        return upper.rows();
    }

    /** {@code A^-1 B} for an n x m matrix B of right-hand sides (one per column); B is not changed. */
    public Matrix solve(Matrix rightHandSides) {
        int n = size();
        if (rightHandSides.rows() != n) {
            throw new IllegalArgumentException(
                    "a system of size %d cannot take right-hand sides of %d rows".formatted(n, rightHandSides.rows()));
        }
        int m = rightHandSides.columns();
        Matrix solution = Matrix.zeros(n, m);
        Cores.each((m + COLUMNS - 1) / COLUMNS, part -> {
            int from = part * COLUMNS;
            int count = Math.min(COLUMNS, m - from);
            Matrix columns = Matrix.zeros(n, count);
            for (int i = 0; i < n; i++) {
                System.arraycopy(rightHandSides.values(), i * m + from, columns.values(), i * count, count);
            }
            solveInPlace(columns);
            for (int i = 0; i < n; i++) {
                System.arraycopy(columns.values(), i * count, solution.values(), i * m + from, count);
            }
        });
        return solution;
    }

    private void solveInPlace(Matrix solution) {
        int n = size();
        int m = solution.columns();
        for (int start = 0; start < n; start += BLOCK) {
            int end = Math.min(start + BLOCK, n);
            double[][] rows = rowsFrom(solution, start, end, 0);
            solveForwards(rows, start, m);
            writeBack(rows, solution, start, 0);
            if (end < n) {
                factorOf(rows, m)
                        .addProduct(
                                Operand.partOf(upper, start, end, end, n).transposed(), solution.values(), end * m, m);
            }
        }
        for (int start = (n - 1) / BLOCK * BLOCK; start >= 0; start -= BLOCK) {
            int end = Math.min(start + BLOCK, n);
            double[][] rows = rowsFrom(solution, start, end, 0);
            solveBackwards(rows, start, m);
            writeBack(rows, solution, start, 0);
            if (start > 0) {
                factorOf(rows, m).addProduct(Operand.partOf(upper, 0, start, start, end), solution.values(), 0, m);
            }
        }
    }

    private void solveForwards(double[][] rows, int start, int m) {
        double[] factors = new double[rows.length];
        for (int i = 0; i < rows.length; i++) {
            for (int h = 0; h < i; h++) {
                factors[h] = upper.get(start + h, start + i);
            }
            RowUpdates.subtract(rows[i], factors, rows, 0, i, 0, m);
            divide(rows[i], upper.get(start + i, start + i));
        }
    }

    private void solveBackwards(double[][] rows, int start, int m) {
        double[] factors = new double[rows.length];
        for (int i = rows.length - 1; i >= 0; i--) {
            for (int h = i + 1; h < rows.length; h++) {
                factors[h] = upper.get(start + i, start + h);
            }
            RowUpdates.subtract(rows[i], factors, rows, i + 1, rows.length, 0, m);
            divide(rows[i], upper.get(start + i, start + i));
        }
    }

    private static RightFactor factorOf(double[][] rows, int m) {
        return UpdateKernels.kernel().rightFactor(Operand.of(negated(rows, 0, m)));
    }

    private static double[][] rowsFrom(Matrix matrix, int start, int end, int column) {
        double[][] rows = new double[end - start][matrix.columns() - column];
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(matrix.values(), (start + i) * matrix.columns() + column, rows[i], 0, rows[i].length);
        }
        return rows;
    }

    private static void writeBack(double[][] rows, Matrix matrix, int start, int column) {
        for (int i = 0; i < rows.length; i++) {
            System.arraycopy(rows[i], 0, matrix.values(), (start + i) * matrix.columns() + column, rows[i].length);
        }
    }

    private static Matrix negated(double[][] rows, int column, int count) {
        Matrix negated = Matrix.zeros(rows.length, count);
        for (int i = 0; i < rows.length; i++) {
            for (int j = 0; j < count; j++) {
                negated.values()[i * count + j] = -rows[i][column + j];
            }
        }
        return negated;
    }

    private static void divide(double[] row, double divisor) {
        for (int j = 0; j < row.length; j++) {
            row[j] /= divisor;
        }
    }
}
