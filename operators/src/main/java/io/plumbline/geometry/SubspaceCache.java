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
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the singular values and directions of a trained decoder in a file of its explainer's folder: they take
 * {@code k d^2} flops and more, and never change.
 *
 * <p>All of them lie in {@value #FILE}, a safetensors of {@code singular_values} [d] and {@code left_vectors} [d, d] in
 * F64, {@code 8 d (d + 1)} bytes. The leading ones of a wide decoder lie in a file for each rank, {@code
 * plumbline-subspace-RANK.safetensors}, [q] and [d, r], with what they may be off ({@link ExplainerSubspace}); the file
 * of all is then read only once somebody asks for them. Both have the SHA-256 of the decoder and of every number. A
 * file of another decoder, damaged or of another layout is said so of, computed anew and replaced; it is written next
 * to its place and moved there whole. Where the folder cannot be written to, that is said, and the work is done at
 * every start. Small decoders, below a second, leave no file.
 */
public final class SubspaceCache {

    static final String FILE = "plumbline-subspace.safetensors";

    private static final String FILE_OF_RANK = "plumbline-subspace-%d.safetensors";

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

    private final Path folder;
    private final Decoder decoder;
    private final String sha256;
    private final Consumer<String> log;

    private SubspaceCache(Path folder, Decoder decoder, String sha256, Consumer<String> log) {
        this.folder = folder;
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
        return flops < LEAST_FLOPS ? ExplainerSubspace.of(decoder, rank) : kept(folder, decoder, sha256, rank, log);
    }

    static ExplainerSubspace kept(Path folder, Decoder decoder, String sha256, int rank, Consumer<String> log) {
        SubspaceCache cache = new SubspaceCache(folder, decoder, sha256, log);
        Leading leading = ExplainerSubspace.isLeadingEnough(rank, decoder.dimension()) ? cache.leading(rank) : null;
        return leading == null
                ? ExplainerSubspace.of(cache.all(), rank)
                : ExplainerSubspace.of(
                        leading, other -> ExplainerSubspace.leadingOf(decoder.weights(), other), cache::all);
    }

    /** Returns the leading directions; null where they are not told apart from the next. */
    private @Nullable Leading leading(int rank) {
        Path file = fileOf(folder, rank);
        Leading known = known(file, opened -> leading(opened, rank));
        return known != null
                ? known
                : made(
                        "the %d leading directions".formatted(rank),
                        file,
                        () -> ExplainerSubspace.leadingOf(decoder.weights(), rank),
                        made -> write(file, LEADING, made.values(), made.basis(), made.sineBound()));
    }

    private Complete all() {
        Path file = folder.resolve(FILE);
        Complete known = known(file, this::all);
        return known != null
                ? known
                : Objects.requireNonNull(made(
                        "the directions",
                        file,
                        () -> ExplainerSubspace.completeOf(decoder.weights()),
                        made -> write(file, ALL, made.values(), made.vectors(), null)));
    }

    /** Returns the file of the leading directions at a rank. */
    static Path fileOf(Path folder, int rank) {
        return folder.resolve(FILE_OF_RANK.formatted(rank));
    }

    /** Returns what a file holds; null where it is of no use. */
    private <T> @Nullable T known(Path file, Function<Safetensors, T> reading) {
        if (!Files.exists(file)) {
            return null;
        }
        try (Safetensors opened = Safetensors.open(file)) {
            return reading.apply(opened);
        } catch (IOException | IllegalArgumentException e) {
            log.accept("%s cannot be used and is made anew: %s".formatted(file, e.getMessage()));
            return null;
        }
    }

    /** Writes what was made. */
    @FunctionalInterface
    private interface Keeping<T> {
        void keep(T made) throws IOException;
    }

    /** Returns what was computed and kept; null, and nothing is kept, where it cannot be. */
    private <T> @Nullable T made(String what, Path file, Supplier<@Nullable T> making, Keeping<T> keeping) {
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
        requireNumbers(opened, values, vectors.values());
        return new Complete(values, vectors, Math.max(decoder.features(), decoder.dimension()));
    }

    private Leading leading(Safetensors opened, int rank) {
        requireDecoder(opened, LEADING);
        long d = decoder.dimension();
        requireShape(opened, VECTORS, List.of(d, (long) rank));
        double[] values = opened.tensor(VALUES).toDoubles();
        Matrix basis = opened.tensor(VECTORS).toMatrix();
        double sineBound = Double.parseDouble(opened.metadata().getOrDefault(SINE_BOUND, ""));
        requireNumbers(opened, values, basis.values(), new double[] {sineBound});
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

    private static void requireNumbers(Safetensors opened, double[]... numbers) {
        if (!Objects.equals(opened.metadata().get(NUMBERS), sha256(numbers))) {
            throw new IllegalArgumentException("its numbers are not those that were written");
        }
    }

    private static void requireShape(Safetensors opened, String name, List<Long> shape) {
        @Nullable List<Long> found = opened.contains(name) ? opened.tensor(name).shape() : null;
        if (!shape.equals(found)) {
            throw new IllegalArgumentException("tensor \"%s\" has shape %s, expected %s".formatted(name, found, shape));
        }
    }

    private void write(Path file, String layout, double[] values, Matrix vectors, @Nullable Double sineBound)
            throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create()
                .metadata(LAYOUT, layout)
                .metadata(DECODER, sha256)
                .addVector(VALUES, DType.F64, values)
                .add(VECTORS, DType.F64, vectors);
        if (sineBound == null) {
            writer.metadata(NUMBERS, sha256(values, vectors.values()));
        } else {
            writer.metadata(SINE_BOUND, sineBound.toString())
                    .metadata(NUMBERS, sha256(values, vectors.values(), new double[] {sineBound}));
        }
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
