package io.plumbline.records;

import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A dump of activation rows on disk: the tensors of an {@link ActivationBatch} and, optionally, {@code request_offsets}
 * [requests + 1] of I64, where request i has the rows {@code offsets[i] .. offsets[i + 1] - 1}.
 *
 * <p>Rows of one request are correlated, so everything that splits or resamples goes by whole requests. A dump without
 * {@code request_offsets} is read as requests of {@value #ROWS_WITHOUT_OFFSETS} rows, the last one shorter.
 *
 * <p><b>Cost.</b> The file is mapped; a request touches only its own rows, so dumps far larger than the heap can be
 * read through. Thread-safe.
 */
public final class ActivationFile implements Closeable {

    /** Rows of a request in a dump that does not say. */
    public static final int ROWS_WITHOUT_OFFSETS = 128;

    static final String REQUEST_OFFSETS = "request_offsets";

    private final Safetensors file;
    private final ActivationTensors tensors;
    private final int[] offsets;

    private ActivationFile(Safetensors file, ActivationTensors tensors, int[] offsets) {
        this.file = file;
        this.tensors = tensors;
        this.offsets = offsets;
    }

    /**
     * Opens a dump and checks shapes and offsets.
     *
     * @throws SafetensorsException when the file is not sound safetensors
     * @throws ActivationBatchException when it is sound and no dump; both messages begin with the path
     */
    public static ActivationFile open(Path path) throws IOException {
        return open(path, null);
    }

    /**
     * Opens a file of a serving engine with the hidden states of several layers, or a dump. Such a file without {@code
     * request_offsets} is one request.
     *
     * @param layers which layers there are, and which one is read; null: hidden states of three dimensions are refused
     */
    public static ActivationFile open(Path path, @Nullable HiddenLayers layers) throws IOException {
        return open(
                path,
                file -> TargetBlock.layersOf(file).isEmpty() || file.contains(ActivationTensors.ACTIVATIONS)
                        ? ActivationTensors.of(file, layers)
                        : ActivationTensors.ofLayers(file),
                layers != null);
    }

    /**
     * Opens a dump of a site with several targets.
     *
     * @param block the one that is read
     */
    public static ActivationFile openBlock(Path path, TargetBlock block) throws IOException {
        return open(path, file -> ActivationTensors.ofBlock(file, block), false);
    }

    private static ActivationFile open(Path path, Function<Safetensors, ActivationTensors> reader, boolean ofEngine)
            throws IOException {
        Safetensors file = Safetensors.open(path);
        try {
            ActivationTensors tensors = reader.apply(file);
            boolean oneRequest = ofEngine && !file.contains(REQUEST_OFFSETS);
            return new ActivationFile(
                    file, tensors, oneRequest ? new int[] {0, tensors.rowCount()} : offsets(file, tensors.rowCount()));
        } catch (ActivationBatchException e) {
            file.close();
            throw new ActivationBatchException(path + ": " + e.getMessage());
        } catch (SafetensorsException e) {
            file.close();
            throw new SafetensorsException(e.fault(), path + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    public int rows() {
        return tensors.rowCount();
    }

    public int requests() {
        return offsets.length - 1;
    }

    /** Returns the width of the activations, {@code d_in}. */
    public int inputWidth() {
        return tensors.inputWidth();
    }

    /**
     * Returns the width of the rows a decoder should reproduce: of the targets where there are any, else of the
     * activations.
     */
    public int targetWidth() {
        return tensors.targets() == null
                ? tensors.inputWidth()
                : tensors.targets().size(1);
    }

    public boolean hasTargets() {
        return tensors.targets() != null;
    }

    public boolean hasReconstructions() {
        return tensors.reconstructions() != null;
    }

    public boolean hasCodes() {
        return tensors.codes() != null;
    }

    public boolean hasTokenIds() {
        return tensors.tokenIds() != null;
    }

    public ActivationBatch request(int index) {
        return tensors.rows(offsets[index], offsets[index + 1]);
    }

    /**
     * Returns one request with its reconstructions as activations, and the rows they are of as targets.
     *
     * @param features of the codes behind each reconstruction, see {@link GivenCodes}; 0: none
     */
    public ActivationBatch given(int index, int features) {
        return tensors.given(offsets[index], offsets[index + 1], features);
    }

    /** Returns one request as the blob of one Kafka record, in the file's own element types: no value is rounded. */
    public byte[] requestAsRecord(int index) {
        int from = offsets[index];
        int to = offsets[index + 1];
        SafetensorsWriter record = SafetensorsWriter.create();
        if (tensors.sources().size() > 1) {
            for (String layer : TargetBlock.layersOf(file)) {
                addRows(record, layer, file.tensor(layer), from, to);
            }
        } else {
            addRows(record, ActivationTensors.ACTIVATIONS, tensors.activations(), from, to);
        }
        if (tensors.targets() != null) {
            addRows(record, ActivationTensors.TARGETS, tensors.targets(), from, to);
        }
        if (tensors.reconstructions() != null) {
            addRows(record, ActivationTensors.RECONSTRUCTIONS, tensors.reconstructions(), from, to);
        }
        if (tensors.codes() != null) {
            addRows(record, GivenCodes.INDICES, file.tensor(GivenCodes.INDICES), from, to);
            addRows(record, GivenCodes.VALUES, file.tensor(GivenCodes.VALUES), from, to);
        }
        if (tensors.tokenIds() != null) {
            addRows(record, ActivationTensors.TOKEN_IDS, tensors.tokenIds(), from, to);
        }
        return record.toBytes();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    static void addRows(SafetensorsWriter record, String name, Tensor tensor, int from, int to) {
        long[] shape = tensor.shape().stream().mapToLong(Long::longValue).toArray();
        shape[0] = (long) to - from;
        ByteBuffer bytes = tensor.rowBytes(from, to);
        record.addRaw(name, tensor.dtype(), shape, bytes);
    }

    private static int[] offsets(Safetensors file, int rows) {
        if (!file.contains(REQUEST_OFFSETS)) {
            int[] even = new int[(rows - 1) / ROWS_WITHOUT_OFFSETS + 2];
            for (int i = 1; i < even.length; i++) {
                even[i] = (int) Math.min(rows, (long) i * ROWS_WITHOUT_OFFSETS);
            }
            return even;
        }
        return offsets(file.tensor(REQUEST_OFFSETS), rows);
    }

    /** Returns what a tensor says of where requests begin, the end of the last one behind them. */
    static int[] offsets(Tensor tensor, int rows) {
        List<Long> shape = tensor.shape();
        if (tensor.dtype() != DType.I64 || shape.size() != 1 || shape.get(0) < 2) {
            throw new ActivationBatchException(
                    "%s, expected [requests + 1] of I64 with at least one request".formatted(tensor));
        }
        long[] stated = tensor.toLongs();
        if (stated[0] != 0 || stated[stated.length - 1] != rows) {
            throw new ActivationBatchException(
                    "tensor \"request_offsets\" runs from %d to %d, expected 0 to %d, the rows"
                            .formatted(stated[0], stated[stated.length - 1], rows));
        }
        int[] offsets = new int[stated.length];
        for (int i = 1; i < stated.length; i++) {
            if (stated[i] <= stated[i - 1] || stated[i] > rows) {
                throw new ActivationBatchException(
                        "tensor \"request_offsets\": entry %d is %d after %d, expected ascending, no request empty"
                                .formatted(i, stated[i], stated[i - 1]));
            }
            offsets[i] = (int) stated[i];
        }
        return offsets;
    }
}
