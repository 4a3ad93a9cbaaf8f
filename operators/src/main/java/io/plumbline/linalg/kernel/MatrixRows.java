package io.plumbline.linalg.kernel;

/** A matrix whose rows can be copied, whatever it is held as. */
public interface MatrixRows {

    int rows();

    int columns();

    /** Copies {@code count} entries of a row. */
    void copyRow(int row, int column, double[] target, int at, int count);
}
