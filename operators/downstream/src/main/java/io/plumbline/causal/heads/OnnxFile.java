package io.plumbline.causal.heads;

import io.plumbline.causal.heads.HeadException.Fault;
import java.io.EOFException;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Reads the fields of an ONNX file that matter before it is loaded: whether a tensor's values lie in another file,
 * which the runtime would then read. A file is a protocol buffer; its messages are walked, no tensor is copied.
 *
 * <pre>
 * message         field
 * ModelProto      7  graph          25 functions
 * GraphProto      1  node           5  initializer     15 sparse_initializer
 * NodeProto       5  attribute
 * AttributeProto  5  t   6 g   10 tensors   11 graphs   22 sparse_tensor   23 sparse_tensors
 * SparseTensor    1  values         2  indices
 * FunctionProto   7  node           11 attribute_proto
 * TensorProto     13 external_data  14 data_location
 * </pre>
 */
final class OnnxFile {

    private enum Message {
        MODEL,
        GRAPH,
        NODE,
        ATTRIBUTE,
        SPARSE,
        FUNCTION,
        TENSOR,
        OTHER;

        Message field(int number) {
            return switch (this) {
                case MODEL -> number == 7 ? GRAPH : number == 25 ? FUNCTION : OTHER;
                case GRAPH ->
                    switch (number) {
                        case 1 -> NODE;
                        case 5 -> TENSOR;
                        case 15 -> SPARSE;
                        default -> OTHER;
                    };
                case NODE -> number == 5 ? ATTRIBUTE : OTHER;
                case ATTRIBUTE ->
                    switch (number) {
                        case 5, 10 -> TENSOR;
                        case 6, 11 -> GRAPH;
                        case 22, 23 -> SPARSE;
                        default -> OTHER;
                    };
                case SPARSE -> number == 1 || number == 2 ? TENSOR : OTHER;
                case FUNCTION -> number == 7 ? NODE : number == 11 ? ATTRIBUTE : OTHER;
                case TENSOR, OTHER -> OTHER;
            };
        }
    }

    private record Part(Message message, int from, int to) {}

    private static final int EXTERNAL_DATA = 13;
    private static final int DATA_LOCATION = 14;

    private final MappedByteBuffer bytes;
    private int at;

    private OnnxFile(MappedByteBuffer bytes) {
        this.bytes = bytes;
    }

    /**
     * Refuses a model that reads other files.
     *
     * @throws HeadException when it does, or is no protocol buffer
     */
    static void requireSelfContained(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() > Integer.MAX_VALUE) {
                throw new HeadException(
                        Fault.NOT_LOADED,
                        "%s: %d bytes, an ONNX file holds at most 2 GiB".formatted(file, channel.size()));
            }
            OnnxFile walk = new OnnxFile(channel.map(MapMode.READ_ONLY, 0, channel.size()));
            if (walk.hasExternalData()) {
                throw new HeadException(
                        Fault.NOT_LOADED,
                        file
                                + ": values of a tensor lie in another file, which is not read; save the model with"
                                + " its weights"
                                + " inside (onnx.save_model without save_as_external_data)");
            }
        } catch (EOFException broken) {
            throw new HeadException(Fault.NOT_LOADED, "%s: no ONNX model: %s".formatted(file, broken.getMessage()));
        }
    }

    private boolean hasExternalData() throws EOFException {
        Deque<Part> parts = new ArrayDeque<>();
        parts.push(new Part(Message.MODEL, 0, bytes.capacity()));
        while (!parts.isEmpty()) {
            Part part = parts.pop();
            at = part.from();
            while (at < part.to()) {
                long tag = varint(part.to());
                int number = (int) (tag >>> 3);
                if (part.message() == Message.TENSOR && (number == EXTERNAL_DATA || number == DATA_LOCATION)) {
                    // An explicit "here" is as good as none.
                    if (number == EXTERNAL_DATA || (tag & 7) != 0 || varint(part.to()) != 0) {
                        return true;
                    }
                    continue;
                }
                int length = length((int) (tag & 7), part.to());
                Message inner = (tag & 7) == 2 ? part.message().field(number) : Message.OTHER;
                if (inner != Message.OTHER) {
                    parts.push(new Part(inner, at, at + length));
                }
                at += length;
            }
        }
        return false;
    }

    /** Returns the bytes of a field's value from here on; a varint's are passed over at once. */
    private int length(int wireType, int end) throws EOFException {
        long length =
                switch (wireType) {
                    case 0 -> {
                        varint(end);
                        yield 0;
                    }
                    case 1 -> 8;
                    case 2 -> varint(end);
                    case 5 -> 4;
                    default -> throw new EOFException("wire type %d at byte %d".formatted(wireType, at));
                };
        if (length < 0 || length > end - at) {
            throw new EOFException("a field of %d bytes at byte %d, %d are left".formatted(length, at, end - at));
        }
        return (int) length;
    }

    private long varint(int end) throws EOFException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at >= end) {
                throw new EOFException("a number runs beyond byte " + end);
            }
            byte next = bytes.get(at++);
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new EOFException("a number of more than 64 bits at byte " + at);
    }
}
