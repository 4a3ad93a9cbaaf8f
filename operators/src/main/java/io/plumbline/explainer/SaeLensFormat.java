package io.plumbline.explainer;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The folders SAELens saves and loads: {@code cfg.json} and {@code sae_weights.safetensors}.
 *
 * <pre>
 * tensor      shape (or its transpose)   in
 * W_enc       [d_in, d_sae]              all
 * b_enc       [d_sae]                    all
 * W_dec       [d_sae, d_out]             all; d_out = d_in for autoencoders
 * b_dec       [d_out]                    all
 * threshold   [d_sae]                    jumprelu, jumprelu_transcoder
 * </pre>
 *
 * <p>Which way round a matrix is stored is told by its shape; where that leaves both open (square), SAELens' own way
 * is taken. Any other tensor would change the arithmetic and is refused by name, except a {@code scaling_factor} of
 * ones, which SAELens drops as well.
 *
 * <p><b>{@code apply_b_dec_to_input}.</b> The encoder of such a folder reads {@code x - b_dec}. It is folded:
 * {@code b_enc' = b_enc - W_enc b_dec}, once, with the trained {@code b_dec}. Writing a new {@code b_dec} under the same
 * flag would silently move every pre-activation, so the adapted folder says {@code apply_b_dec_to_input: false} and
 * carries the folded {@code b_enc'} in F64: read back here, the encoder gives the same bits; SAELens rounds it to the
 * folder's {@code dtype}. Without the flag all encoder tensors keep their bytes and {@code cfg.json} is copied.
 *
 * <p><b>Damage.</b> An adapted folder carries a checksum of its tensors and what {@code cfg.json} says about the arithmetic;
 * reading refuses a folder that differs from them in one bit. A folder from elsewhere has neither.
 *
 * <p><b>JumpReLU.</b> SAELens computes {@code relu(pre) * (pre > threshold)}. A negative threshold therefore acts as
 * 0, and is read as 0.
 */
public final class SaeLensFormat implements ExplainerFormat {

    private static final String WEIGHTS_FILE = "sae_weights.safetensors";
    private static final String W_ENC = "W_enc";
    private static final String B_ENC = "b_enc";
    private static final String W_DEC = "W_dec";
    private static final String B_DEC = "b_dec";
    private static final String THRESHOLD = "threshold";
    private static final String SCALING_FACTOR = "scaling_factor";
    private static final String ARITHMETIC = "plumbline.arithmetic";
    private static final String REMEDY =
            "copy the folder again from where it was made, or write it again with `plumbline adapt` or `plumbline decoders fetch`";

    @Override
    public String description() {
        return "SAELens (cfg.json and " + WEIGHTS_FILE + ")";
    }

    @Override
    public boolean recognises(Path directory) {
        return Files.isRegularFile(directory.resolve(SaeLensConfig.FILE));
    }

    @Override
    public ExplainerShape shape(Path directory) throws IOException {
        SaeLensConfig config = SaeLensConfig.read(directory);
        return new ExplainerShape(
                config.inputWidth(),
                config.targetWidth(),
                config.features(),
                Explainer.isTranscoder(config.architecture()),
                config.activation() == SaeLensConfig.Activation.TOPK ? config.k() : config.features(),
                storesFloats(directory));
    }

    /** As nearly every folder does; one whose weights cannot be read is refused when they are. */
    private static boolean storesFloats(Path directory) throws IOException {
        Path file = directory.resolve(WEIGHTS_FILE);
        if (!Files.isRegularFile(file)) {
            return true;
        }
        try (Safetensors opened = Safetensors.open(file)) {
            return opened.names().stream()
                    .filter(name -> name.equals(W_ENC) || name.equals(W_DEC))
                    .noneMatch(name -> opened.tensor(name).dtype() == DType.F64);
        } catch (SafetensorsException unreadable) {
            return true;
        }
    }

    @Override
    public Explainer read(Path directory) throws IOException {
        SaeLensConfig config = SaeLensConfig.read(directory);
        Safetensors opened = openWeights(directory);
        try (opened) {
            requireUnchanged(opened);
            requireItsConfig(config, opened.metadata());
            return explainer(config, opened, directory);
        } catch (SafetensorsException | ExplainerFormatException e) {
            throw new ExplainerFormatException(directory.resolve(WEIGHTS_FILE) + ": " + e.getMessage(), e);
        }
    }

    /** Folders that Plumbline wrote carry a checksum; one from elsewhere has none to hold it to. */
    private static void requireUnchanged(Safetensors weights) throws IOException {
        try {
            if (weights.isSealed()) {
                weights.requireUnchanged();
            }
        } catch (SafetensorsException changed) {
            throw new ExplainerFormatException("%s; %s".formatted(changed.getMessage(), REMEDY), changed);
        }
    }

    /** Refuses a cfg.json that says another arithmetic than the one the weights were written with. */
    private static void requireItsConfig(SaeLensConfig config, Map<String, String> metadata) {
        String expected = metadata.getOrDefault(ARITHMETIC, config.arithmetic());
        if (!config.arithmetic().equals(expected)) {
            throw new ExplainerFormatException("%s says \"%s\", the weights were written for \"%s\"; %s"
                    .formatted(SaeLensConfig.FILE, config.arithmetic(), expected, REMEDY));
        }
    }

    @Override
    public void writeAdapted(
            Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        requireWritable(original, adapted, dtype);
        Path directory = original.directory();
        SaeLensConfig config = SaeLensConfig.read(directory);
        try (Safetensors weights = openWeights(directory)) {
            if (!decoder(config, weights).sha256().equals(original.decoder().sha256())) {
                throw new ExplainerFormatException(
                        directory + ": the decoder on disk is no longer the one that was read; nothing was written");
            }
            SafetensorsWriter writer = SafetensorsWriter.create();
            weights.metadata().forEach(writer::metadata);
            lineage.forEach(writer::metadata);
            for (String name : weights.names()) {
                Tensor tensor = weights.tensor(name);
                switch (name) {
                    case W_DEC ->
                        writer.add(
                                name,
                                dtype,
                                isFeatureFirst(tensor, config)
                                        ? adapted.weights()
                                        : adapted.weights().transpose());
                    case B_DEC -> writer.addVector(name, dtype, adapted.bias());
                    case B_ENC -> {
                        if (config.subtractsDecoderBias()) {
                            writer.addVector(
                                    name, DType.F64, encoderBias(config, weights, encoderWeights(config, weights)));
                        } else {
                            addUntouched(writer, tensor);
                        }
                    }
                    default -> addUntouched(writer, tensor);
                }
            }
            writer.metadata(ARITHMETIC, config.folded().arithmetic()).sealed();
            byte[] configBytes = config.subtractsDecoderBias()
                    ? config.withoutDecoderBiasSubtraction()
                    : Files.readAllBytes(directory.resolve(SaeLensConfig.FILE));
            AtomicFile.writeFolder(outDirectory, folder -> {
                writer.writeTo(folder.resolve(WEIGHTS_FILE));
                AtomicFile.write(
                        folder.resolve(SaeLensConfig.FILE), channel -> channel.write(ByteBuffer.wrap(configBytes)));
            });
        }
    }

    private static Safetensors openWeights(Path directory) throws IOException {
        Path file = directory.resolve(WEIGHTS_FILE);
        if (!Files.isRegularFile(file)) {
            throw new ExplainerFormatException(file + " is missing; the folder has a cfg.json and needs both");
        }
        try {
            return Safetensors.open(file);
        } catch (SafetensorsException e) {
            throw new ExplainerFormatException(String.valueOf(e.getMessage()), e);
        }
    }

    private static Explainer explainer(SaeLensConfig config, Safetensors weights, Path directory) {
        refuseOtherTensors(config, weights);
        Matrix encoderWeights = encoderWeights(config, weights);
        LinearLayer layer = LinearLayer.inputByFeature(encoderWeights, encoderBias(config, weights, encoderWeights));
        Encoder encoder =
                switch (config.activation()) {
                    case RELU -> new ReluEncoder(layer);
                    case TOPK -> new TopKEncoder(layer, config.k());
                    case JUMPRELU -> new JumpReluEncoder(layer, thresholds(config, weights));
                };
        return new Explainer(config.architecture(), encoder, decoder(config, weights), directory);
    }

    private static Matrix encoderWeights(SaeLensConfig config, Safetensors weights) {
        return matrix(weights.tensor(W_ENC), config.inputWidth(), config.features(), "d_in x d_sae");
    }

    /** {@code b_enc}, or {@code b_enc - W_enc b_dec} where the folder subtracts {@code b_dec} from the input. */
    private static double[] encoderBias(SaeLensConfig config, Safetensors weights, Matrix encoderWeights) {
        double[] bias = vector(weights.tensor(B_ENC), config.features(), "d_sae");
        if (!config.subtractsDecoderBias()) {
            return bias;
        }
        double[] decoderBias = vector(weights.tensor(B_DEC), config.targetWidth(), "d_out");
        for (int input = 0; input < decoderBias.length; input++) {
            Kernels.addScaled(-decoderBias[input], encoderWeights.values(), input * bias.length, bias, 0, bias.length);
        }
        return bias;
    }

    private static double[] thresholds(SaeLensConfig config, Safetensors weights) {
        double[] thresholds = vector(weights.tensor(THRESHOLD), config.features(), "d_sae");
        for (int j = 0; j < thresholds.length; j++) {
            thresholds[j] = Math.max(thresholds[j], 0.0);
        }
        return thresholds;
    }

    private static Decoder decoder(SaeLensConfig config, Safetensors weights) {
        return new Decoder(
                weights(weights.tensor(W_DEC), config.features(), config.targetWidth(), "d_sae x d_out"),
                vector(weights.tensor(B_DEC), config.targetWidth(), "d_out"));
    }

    private static void refuseOtherTensors(SaeLensConfig config, Safetensors weights) {
        for (String name : weights.names()) {
            switch (name) {
                case W_ENC, B_ENC, W_DEC, B_DEC -> {}
                case THRESHOLD -> {
                    if (config.activation() != SaeLensConfig.Activation.JUMPRELU) {
                        throw new ExplainerFormatException(
                                "tensor \"threshold\" beside architecture %s; expected jumprelu"
                                        .formatted(config.architecture()));
                    }
                }
                case SCALING_FACTOR -> {
                    for (double factor : weights.tensor(name).toDoubles()) {
                        if (factor != 1.0) {
                            throw new ExplainerFormatException(
                                    "tensor \"scaling_factor\" holds %s; expected 1 throughout, or the factors folded into the weights"
                                            .formatted(factor));
                        }
                    }
                }
                default ->
                    throw new ExplainerFormatException(
                            "tensor \"%s\" is not part of what is supported: W_enc, b_enc, W_dec, b_dec, threshold"
                                    .formatted(name));
            }
        }
    }

    /** Reads a matrix as {@code rows x columns} from a tensor of that shape or of its transpose. */
    private static Matrix matrix(Tensor tensor, int rows, int columns, String meaning) {
        boolean asStored = isAsStored(tensor, rows, columns, meaning);
        Matrix read = finite(tensor, tensor.toMatrix());
        return asStored ? read : read.transpose();
    }

    /** The same in half the memory where its values are floats. */
    private static Weights weights(Tensor tensor, int rows, int columns, String meaning) {
        boolean asStored = isAsStored(tensor, rows, columns, meaning);
        requireFloatingPoint(tensor);
        Weights read = tensor.toWeights();
        for (int i = 0; i < read.rows(); i++) {
            for (int j = 0; j < read.columns(); j++) {
                requireFinite(tensor, i, j, read.get(i, j));
            }
        }
        return asStored ? read : read.transpose();
    }

    /** Or as its transpose; anything else is refused. */
    private static boolean isAsStored(Tensor tensor, int rows, int columns, String meaning) {
        if (tensor.shape().equals(List.of((long) rows, (long) columns))) {
            return true;
        }
        if (tensor.shape().equals(List.of((long) columns, (long) rows))) {
            return false;
        }
        throw new ExplainerFormatException(
                "tensor \"%s\": shape %s, expected [%d, %d] (%s of cfg.json) or its transpose"
                        .formatted(tensor.name(), tensor.shape(), rows, columns, meaning));
    }

    private static boolean isFeatureFirst(Tensor decoderWeights, SaeLensConfig config) {
        return decoderWeights.shape().equals(List.of((long) config.features(), (long) config.targetWidth()));
    }

    private static double[] vector(Tensor tensor, int length, String meaning) {
        if (!tensor.shape().equals(List.of((long) length))) {
            throw new ExplainerFormatException("tensor \"%s\": shape %s, expected [%d] (%s of cfg.json)"
                    .formatted(tensor.name(), tensor.shape(), length, meaning));
        }
        return finite(tensor, tensor.toMatrix()).values();
    }

    private static Matrix finite(Tensor tensor, Matrix values) {
        requireFloatingPoint(tensor);
        for (int i = 0; i < values.values().length; i++) {
            requireFinite(tensor, i / values.columns(), i % values.columns(), values.values()[i]);
        }
        return values;
    }

    private static void requireFloatingPoint(Tensor tensor) {
        if (!tensor.dtype().isFloatingPoint()) {
            throw new ExplainerFormatException(
                    "tensor \"%s\": dtype %s, expected F64, F32, F16 or BF16".formatted(tensor.name(), tensor.dtype()));
        }
    }

    private static void requireFinite(Tensor tensor, int row, int column, double value) {
        if (!Double.isFinite(value)) {
            throw new ExplainerFormatException("tensor \"%s\": row %d, column %d is %s; expected finite weights"
                    .formatted(tensor.name(), row, column, value));
        }
    }

    private static void addUntouched(SafetensorsWriter writer, Tensor tensor) {
        long[] shape = tensor.shape().stream().mapToLong(Long::longValue).toArray();
        writer.addRaw(tensor.name(), tensor.dtype(), shape, tensor.bytes());
    }

    private static void requireWritable(Explainer original, Decoder adapted, DType dtype) {
        if (dtype != DType.F32 && dtype != DType.F64) {
            throw new IllegalArgumentException("an adapted decoder is written as F32 or F64, not " + dtype);
        }
        if (adapted.features() != original.features() || adapted.dimension() != original.targetWidth()) {
            throw new IllegalArgumentException("the adapted decoder is %d x %d, the explainer's %d x %d"
                    .formatted(adapted.features(), adapted.dimension(), original.features(), original.targetWidth()));
        }
        double largest = dtype == DType.F32 ? Float.MAX_VALUE : Double.MAX_VALUE;
        Weights weights = adapted.weights();
        double[] row = new double[weights.columns()];
        for (int feature = 0; feature < weights.rows(); feature++) {
            weights.copyTo(feature * row.length, row, 0, row.length);
            requireWithin(row, largest, "weights");
        }
        requireWithin(adapted.bias(), largest, "bias");
    }

    private static void requireWithin(double[] values, double largest, String what) {
        for (double value : values) {
            // Written this way round so that NaN is caught.
            if (!(Math.abs(value) <= largest)) {
                throw new IllegalArgumentException(
                        "the adapted decoder's %s hold %s; nothing was written".formatted(what, value));
            }
        }
    }
}
