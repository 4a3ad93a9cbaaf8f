package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads a decoder's factors as tensors of an artefact: float32, and int32 for what is counted. {@code b_dec}
 * [d] is always there; {@code dual} [N, d] with the codes {@code row_start} [N + 1], {@code feature} and {@code value}
 * [entries] all or none; {@code turn} [d, r] with {@code basis} [d, r], or [d, d] alone, or none.
 */
final class FactorTensors {

    private static final String TURN = "turn";
    private static final String BASIS = "basis";
    private static final String DUAL = "dual";
    private static final String ROW_START = "row_start";
    private static final String FEATURE = "feature";
    private static final String VALUE = "value";
    private static final Set<String> ALL = Set.of(TURN, BASIS, DUAL, ROW_START, FEATURE, VALUE, DecoderArtefact.BIAS);

    /** Stands in a shape for a size that is left open. */
    private static final long ANY = -1;

    private final Safetensors blob;
    private final Decoder trained;

    private FactorTensors(Safetensors blob, Decoder trained) {
        this.blob = blob;
        this.trained = trained;
    }

    static void add(DecoderFactors factors, SafetensorsWriter writer) {
        Matrix turn = factors.turn();
        Matrix basis = factors.basis();
        SparseCodes codes = factors.codes();
        if (turn != null) {
            writer.add(TURN, DType.F32, turn);
        }
        if (basis != null) {
            writer.add(BASIS, DType.F32, basis);
        }
        if (codes.rows() > 0) {
            writer.add(DUAL, DType.F32, factors.dual());
            addInts(ROW_START, codes.rowStart(), writer);
            addInts(FEATURE, codes.feature(), writer);
            writer.addVector(VALUE, DType.F32, codes.value());
        }
        writer.addVector(DecoderArtefact.BIAS, DType.F32, factors.bias());
    }

    private static void addInts(String name, int[] values, SafetensorsWriter writer) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(values);
        writer.addRaw(name, DType.I32, new long[] {values.length}, bytes);
    }

    /**
     * Reads the factors of a decoder like the trained one. Their sizes are those of tensors that tile the blob, so
     * nothing is allocated that is not there.
     *
     * @throws IllegalArgumentException when the blob holds no such factors
     */
    static DecoderFactors read(Safetensors blob, Decoder trained) {
        return new FactorTensors(blob, trained).read();
    }

    private DecoderFactors read() {
        Set<String> unknown = new TreeSet<>(blob.names());
        unknown.removeAll(ALL);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("it holds %s: factors are %s".formatted(unknown, new TreeSet<>(ALL)));
        }
        long d = trained.dimension();
        double[] bias = tensor(DecoderArtefact.BIAS, DType.F32, d).toDoubles();
        if (!blob.contains(DUAL) && !blob.contains(ROW_START) && !blob.contains(FEATURE) && !blob.contains(VALUE)) {
            SparseCodes none = new SparseCodes(0, trained.features(), new int[1], new int[0], new double[0]);
            return new DecoderFactors(matrix(TURN), matrix(BASIS), none, Matrix.zeros(0, bias.length), bias);
        }
        Tensor dual = tensor(DUAL, DType.F32, ANY, d);
        long rows = dual.shape().get(0);
        Tensor feature = tensor(FEATURE, DType.I32, ANY);
        SparseCodes codes = new SparseCodes(
                dual.size(0),
                trained.features(),
                ints(tensor(ROW_START, DType.I32, rows + 1)),
                ints(feature),
                tensor(VALUE, DType.F32, feature.shape().get(0)).toDoubles());
        return new DecoderFactors(matrix(TURN), matrix(BASIS), codes, dual.toMatrix(), bias);
    }

    private @Nullable Matrix matrix(String name) {
        return blob.contains(name)
                ? tensor(name, DType.F32, trained.dimension(), ANY).toMatrix()
                : null;
    }

    private Tensor tensor(String name, DType dtype, long... sizes) {
        Tensor tensor = blob.tensor(name);
        List<Long> shape = tensor.shape();
        boolean fits = tensor.dtype() == dtype && shape.size() == sizes.length;
        for (int i = 0; fits && i < sizes.length; i++) {
            fits = sizes[i] == ANY || sizes[i] == shape.get(i);
        }
        if (!fits) {
            StringBuilder expected = new StringBuilder();
            for (long size : sizes) {
                expected.append(expected.isEmpty() ? "" : ", ").append(size == ANY ? "any" : size);
            }
            throw new IllegalArgumentException(
                    "it holds %s: expected [%s] of %s for the explainer held here".formatted(tensor, expected, dtype));
        }
        return tensor;
    }

    private static int[] ints(Tensor tensor) {
        int[] values = new int[tensor.size(0)];
        tensor.bytes().asIntBuffer().get(values);
        return values;
    }
}
