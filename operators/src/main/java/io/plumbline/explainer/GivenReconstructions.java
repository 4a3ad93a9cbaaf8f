package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import java.nio.file.Path;
import java.util.List;

/**
 * Stands for an explainer that cannot be read: records bring what it made of their rows. Its rows of activations are
 * the reconstructions, and it gives them back as they are.
 *
 * <p><b>Size.</b> {@code 4 d^2} bytes, for a decoder that changes nothing.
 */
public final class GivenReconstructions {

    /** What a configuration and a command name it by. */
    public static final String NAME = "none";

    static final String ARCHITECTURE = "given_reconstructions";

    private GivenReconstructions() {}

    /** Whether a path says that there is no explainer to read. */
    public static boolean isNamedBy(Path path) {
        return path.toString().equals(NAME);
    }

    /** Returns the explainer whose reconstructions of rows of so many values are given. */
    public static Explainer of(int dimension) {
        Matrix identity = Matrix.zeros(dimension, dimension);
        for (int j = 0; j < dimension; j++) {
            identity.set(j, j, 1.0);
        }
        return new Explainer(
                ARCHITECTURE,
                new Unchanged(dimension),
                new Decoder(identity, new double[dimension]),
                DecoderSpace.PLAIN,
                new Origin(
                        NAME,
                        Path.of(NAME),
                        ExplainerOptions.NONE,
                        List.of(),
                        "there is no decoder, records bring reconstructions"));
    }

    /** Each value of a row is the code of its own feature. */
    private record Unchanged(int inputWidth) implements Encoder {

        @Override
        public int features() {
            return inputWidth;
        }

        @Override
        public SparseCodes encode(Matrix rows) {
            return SparseCodes.fromDense(rows);
        }
    }
}
