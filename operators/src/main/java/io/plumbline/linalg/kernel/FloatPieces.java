package io.plumbline.linalg.kernel;

/**
 * Pieces of strips, of as many rows each, that are multiplied with each other: each of them often, so that laying it
 * out once pays. Made by {@link FloatTileKernel#pieces}. Different pieces may be taken, and different squares added to,
 * at the same time. The build makes {@code DoublePieces} from this interface.
 */
public interface FloatPieces {

    /** Takes the rows of a strip from {@code at} on as a piece; they must stay as they are while it is multiplied. */
    void take(int piece, float[] strip, int at);

    /** Computes {@code C += A^T B} for a whole square like {@link FloatTileKernel#addSquare}, A and B being pieces. */
    void addSquare(int left, int right, float[] square, int c);
}
