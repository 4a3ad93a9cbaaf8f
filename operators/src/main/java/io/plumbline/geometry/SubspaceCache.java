package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the singular values and directions of a trained decoder in a file of its explainer's folder: they take
 * {@code 2 k d^2} flops and a d x d SVD, and never change.
 *
 * <p>The file, {@value #FILE}, is a safetensors of {@code singular_values} [d] and {@code left_vectors} [d, d] in F64,
 * {@code 8 d (d + 1)} bytes, with the SHA-256 of the decoder and of the numbers. One that is of another decoder,
 * damaged or of another layout is said so of, computed anew and replaced; it is written next to its place and moved
 * there whole. Where the folder cannot be written to, that is said, and the work is done at every start. Small
 * decoders, below a second, leave no file.
 */
public final class SubspaceCache {

    static final String FILE = "plumbline-subspace.safetensors";

    private static final String VALUES = "singular_values";
    private static final String VECTORS = "left_vectors";
    private static final String LAYOUT = "layout";
    private static final String LAYOUT_1 = "plumbline-subspace-1";
    private static final String DECODER = "decoder_sha256";
    private static final String NUMBERS = "numbers_sha256";

    /** The least work that is worth a file: about a second's. */
    private static final double LEAST_FLOPS = 4e9;

    private SubspaceCache() {}

    /**
     * The decoder's subspace, from the file or computed.
     *
     * @param folder of the explainer
     * @param sha256 {@link Decoder#sha256()}
     * @param rank in 1 .. d
     * @param log takes one sentence for everything that is worth a line in the log
     */
    public static ExplainerSubspace of(Path folder, Decoder decoder, String sha256, int rank, Consumer<String> log) {
        double flops = 2.0 * decoder.features() * decoder.dimension() * decoder.dimension();
        return flops < LEAST_FLOPS
                ? ExplainerSubspace.of(decoder, rank)
                : kept(folder.resolve(FILE), decoder, sha256, rank, log);
    }

    static ExplainerSubspace kept(Path file, Decoder decoder, String sha256, int rank, Consumer<String> log) {
        if (Files.exists(file)) {
            try {
                return read(file, decoder, sha256, rank);
            } catch (IOException | IllegalArgumentException e) {
                log.accept("%s cannot be used and is made anew: %s".formatted(file, e.getMessage()));
            }
        }
        log.accept(("computing the directions of %d features in dimension %d, once; "
                        + "it takes from some seconds (768) to minutes (2,048)")
                .formatted(decoder.features(), decoder.dimension()));
        long begin = System.nanoTime();
        ExplainerSubspace made = ExplainerSubspace.of(decoder, rank);
        String time = "took %.1f s".formatted((System.nanoTime() - begin) / 1e9);
        try {
            write(file, made, sha256);
            log.accept("%s; kept in %s".formatted(time, file));
        } catch (IOException e) {
            log.accept("%s; not kept, so the next start takes as long: %s".formatted(time, e.getMessage()));
        }
        return made;
    }

    private static ExplainerSubspace read(Path file, Decoder decoder, String sha256, int rank) throws IOException {
        try (Safetensors opened = Safetensors.open(file)) {
            Map<String, String> metadata = opened.metadata();
            if (!LAYOUT_1.equals(metadata.get(LAYOUT))) {
                throw new IllegalArgumentException(
                        "its layout is %s, expected %s".formatted(metadata.get(LAYOUT), LAYOUT_1));
            }
            if (!sha256.equals(metadata.get(DECODER))) {
                throw new IllegalArgumentException(
                        "it is of the decoder %s, this one is %s".formatted(metadata.get(DECODER), sha256));
            }
            long d = decoder.dimension();
            requireShape(opened, VALUES, List.of(d));
            requireShape(opened, VECTORS, List.of(d, d));
            double[] values = opened.tensor(VALUES).toDoubles();
            Matrix vectors = opened.tensor(VECTORS).toMatrix();
            if (!Objects.equals(metadata.get(NUMBERS), sha256(values, vectors.values()))) {
                throw new IllegalArgumentException("its numbers are not those that were written");
            }
            return new ExplainerSubspace(values, vectors, decoder.features(), rank);
        }
    }

    private static void requireShape(Safetensors opened, String name, List<Long> shape) {
        @Nullable List<Long> found = opened.contains(name) ? opened.tensor(name).shape() : null;
        if (!shape.equals(found)) {
            throw new IllegalArgumentException("tensor \"%s\" has shape %s, expected %s".formatted(name, found, shape));
        }
    }

    private static void write(Path file, ExplainerSubspace subspace, String sha256) throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create()
                .metadata(LAYOUT, LAYOUT_1)
                .metadata(DECODER, sha256)
                .metadata(
                        NUMBERS,
                        sha256(subspace.singularValues(), subspace.leftVectors().values()))
                .addVector(VALUES, DType.F64, subspace.singularValues())
                .add(VECTORS, DType.F64, subspace.leftVectors());
        AtomicFile.write(file, writer::writeTo);
    }

    private static String sha256(double[]... numbers) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            ByteBuffer one = ByteBuffer.allocate(Double.BYTES);
            for (double[] values : numbers) {
                for (double value : values) {
                    digest.update(one.clear().putDouble(value).flip());
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
