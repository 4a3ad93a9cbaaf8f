package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace.Complete;
import io.plumbline.geometry.ExplainerSubspace.Leading;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the singular values and directions of a trained decoder in a file of its explainer's folder: they take
 * {@code k d^2} flops and more, and never change.
 *
 * <p>The file, {@value #FILE}, is a safetensors of {@code singular_values} and {@code left_vectors} in F64, with the
 * SHA-256 of the decoder and of the numbers: all of them, [d] and [d, d], {@code 8 d (d + 1)} bytes, or the leading
 * ones of a wide decoder, [q] and [d, r], with what they may be off ({@link ExplainerSubspace}). One that is of another
 * decoder or rank, damaged or of another layout is said so of, computed anew and replaced; it is written next to its
 * place and moved there whole. Where the folder cannot be written to, that is said, and the work is done at every
 * start. Small decoders, below a second, leave no file.
 */
public final class SubspaceCache {

    static final String FILE = "plumbline-subspace.safetensors";

    private static final String VALUES = "singular_values";
    private static final String VECTORS = "left_vectors";
    private static final String LAYOUT = "layout";
    private static final String ALL = "plumbline-subspace-1";
    private static final String LEADING = "plumbline-subspace-2";
    private static final String SINE_BOUND = "sine_bound";
    private static final String DECODER = "decoder_sha256";
    private static final String NUMBERS = "numbers_sha256";

    /** The least work that is worth a file: about a second's. */
    private static final double LEAST_FLOPS = 4e9;

    private final Path file;
    private final Decoder decoder;
    private final String sha256;
    private final Consumer<String> log;

    private SubspaceCache(Path file, Decoder decoder, String sha256, Consumer<String> log) {
        this.file = file;
        this.decoder = decoder;
        this.sha256 = sha256;
        this.log = log;
    }

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
        SubspaceCache cache = new SubspaceCache(file, decoder, sha256, log);
        ExplainerSubspace known = cache.known(rank);
        if (known != null) {
            return known;
        }
        if (ExplainerSubspace.isLeadingEnough(rank, decoder.dimension())) {
            Leading leading = cache.made(
                    "the %d leading directions".formatted(rank),
                    () -> ExplainerSubspace.leadingOf(decoder.weights(), rank),
                    made -> cache.write(
                            LEADING,
                            Map.of(SINE_BOUND, Double.toString(made.sineBound())),
                            made.values(),
                            made.basis()));
            if (leading != null) {
                return cache.subspace(leading);
            }
        }
        return ExplainerSubspace.of(cache.all(), rank);
    }

    /** Returns what the file holds; null where it is of no use. */
    private @Nullable ExplainerSubspace known(int rank) {
        if (!Files.exists(file)) {
            return null;
        }
        try (Safetensors opened = Safetensors.open(file)) {
            return LEADING.equals(opened.metadata().get(LAYOUT))
                    ? subspace(leading(opened, rank))
                    : ExplainerSubspace.of(all(opened), rank);
        } catch (IOException | IllegalArgumentException e) {
            log.accept("%s cannot be used and is made anew: %s".formatted(file, e.getMessage()));
            return null;
        }
    }

    private ExplainerSubspace subspace(Leading leading) {
        return ExplainerSubspace.of(leading, rank -> ExplainerSubspace.leadingOf(decoder.weights(), rank), this::all);
    }

    private Complete all() {
        return Objects.requireNonNull(made(
                "the directions",
                () -> ExplainerSubspace.completeOf(decoder.weights()),
                made -> write(ALL, Map.of(), made.values(), made.vectors())));
    }

    /** Writes what was made. */
    @FunctionalInterface
    private interface Keeping<T> {
        void keep(T made) throws IOException;
    }

    /** Returns what was computed and kept; null, and nothing is kept, where it cannot be. */
    private <T> @Nullable T made(String what, Supplier<@Nullable T> making, Keeping<T> keeping) {
        log.accept("computing %s of %d features in dimension %d, once"
                .formatted(what, decoder.features(), decoder.dimension()));
        long begin = System.nanoTime();
        T made = making.get();
        String time = "took %.1f s".formatted((System.nanoTime() - begin) / 1e9);
        if (made == null) {
            log.accept(time + "; they lie too close to the next ones, so all are computed");
            return null;
        }
        try {
            keeping.keep(made);
            log.accept("%s; kept in %s".formatted(time, file));
        } catch (IOException e) {
            log.accept("%s; not kept, so the next start takes as long: %s".formatted(time, e.getMessage()));
        }
        return made;
    }

    private Complete all(Safetensors opened) {
        requireDecoder(opened, ALL);
        long d = decoder.dimension();
        requireShape(opened, VALUES, List.of(d));
        requireShape(opened, VECTORS, List.of(d, d));
        double[] values = opened.tensor(VALUES).toDoubles();
        Matrix vectors = opened.tensor(VECTORS).toMatrix();
        requireNumbers(opened, values, vectors);
        return new Complete(values, vectors, Math.max(decoder.features(), decoder.dimension()));
    }

    private Leading leading(Safetensors opened, int rank) {
        requireDecoder(opened, LEADING);
        long d = decoder.dimension();
        requireShape(opened, VECTORS, List.of(d, (long) rank));
        double[] values = opened.tensor(VALUES).toDoubles();
        Matrix basis = opened.tensor(VECTORS).toMatrix();
        requireNumbers(opened, values, basis);
        double sineBound = Double.parseDouble(opened.metadata().getOrDefault(SINE_BOUND, ""));
        if (values.length <= rank || !(sineBound > 0.0)) {
            throw new IllegalArgumentException("it has %d singular values and a bound of %s: expected more than %d, and"
                            .formatted(values.length, sineBound, rank)
                    + " a bound above 0");
        }
        return new Leading(values, basis, sineBound);
    }

    private void requireDecoder(Safetensors opened, String layout) {
        Map<String, String> metadata = opened.metadata();
        if (!layout.equals(metadata.get(LAYOUT))) {
            throw new IllegalArgumentException("its layout is %s, expected %s".formatted(metadata.get(LAYOUT), layout));
        }
        if (!sha256.equals(metadata.get(DECODER))) {
            throw new IllegalArgumentException(
                    "it is of the decoder %s, this one is %s".formatted(metadata.get(DECODER), sha256));
        }
    }

    private static void requireNumbers(Safetensors opened, double[] values, Matrix vectors) {
        if (!Objects.equals(opened.metadata().get(NUMBERS), sha256(values, vectors.values()))) {
            throw new IllegalArgumentException("its numbers are not those that were written");
        }
    }

    private static void requireShape(Safetensors opened, String name, List<Long> shape) {
        @Nullable List<Long> found = opened.contains(name) ? opened.tensor(name).shape() : null;
        if (!shape.equals(found)) {
            throw new IllegalArgumentException("tensor \"%s\" has shape %s, expected %s".formatted(name, found, shape));
        }
    }

    private void write(String layout, Map<String, String> more, double[] values, Matrix vectors) throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create()
                .metadata(LAYOUT, layout)
                .metadata(DECODER, sha256)
                .metadata(NUMBERS, sha256(values, vectors.values()))
                .addVector(VALUES, DType.F64, values)
                .add(VECTORS, DType.F64, vectors);
        more.forEach(writer::metadata);
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
