package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.GivenCodes;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;

/**
 * Stands for an explainer that cannot be read: records bring what it made of their rows. Its rows of activations are
 * the reconstructions, and it gives them back as they are. Its codes are those that records bring.
 *
 * <p><b>Size.</b> {@code 4 d^2} bytes, for a decoder that changes nothing.
 */
public final class GivenReconstructions {

    /** The name that a configuration and a command use for it. */
    public static final String NAME = "none";

    static final String ARCHITECTURE = "given_reconstructions";

    private GivenReconstructions() {}

    /** Returns whether a path says that there is no explainer to read. */
    public static boolean isNamedBy(Path path) {
        return path.toString().equals(NAME);
    }

    /**
     * Returns the explainer whose reconstructions of rows of so many values are given.
     *
     * @param options {@code features}, where sparse codes come with them: they then stand behind each reconstruction,
     *     as {@link GivenCodes} says
     */
    public static Explainer of(int dimension, ExplainerOptions options) {
        options.requireOnly("explainer none", ExplainerOptions.FEATURES);
        Integer features = options.features();
        Matrix identity = Matrix.zeros(dimension, dimension);
        for (int j = 0; j < dimension; j++) {
            identity.set(j, j, 1.0);
        }
        return new Explainer(
                ARCHITECTURE,
                features == null ? new Unchanged(dimension) : new Sent(dimension + GivenCodes.WIDTH, features),
                new Decoder(identity, new double[dimension]),
                DecoderSpace.PLAIN,
                new Origin(
                        NAME,
                        Path.of(NAME),
                        options,
                        List.of(),
                        List.of(),
                        "there is no decoder, records bring reconstructions"));
    }

    /** Encodes rows that come without codes: each value of a row is the code of its own feature. */
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

    /** Reads the codes behind each reconstruction. */
    private record Sent(int inputWidth, int features) implements Encoder {

        @Override
        public SparseCodes encode(Matrix rows) {
            SparseCodes.Builder codes = new SparseCodes.Builder(rows.rows(), features);
            for (int row = 0; row < rows.rows(); row++) {
                int at = row * inputWidth + inputWidth - GivenCodes.WIDTH;
                TreeMap<Integer, Double> sorted = new TreeMap<>();
                for (int place = 0; place < GivenCodes.MOST; place++) {
                    int index = (int) rows.values()[at + place] - 1;
                    if (index >= 0 && index < features) {
                        sorted.put(index, rows.values()[at + GivenCodes.MOST + place]);
                    }
                }
                sorted.forEach(codes::add);
                codes.endRow();
            }
            return codes.build();
        }
    }
}
