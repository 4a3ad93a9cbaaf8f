package io.plumbline.wire;

/**
 * Thrown when a safetensors blob is not what it must be. {@link #fault()} names the way it is wrong; the message names
 * the tensor, the value found, the value expected, and the byte of the file where the statement stands.
 */
public final class SafetensorsException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /** The ways a blob can be wrong, one name each, for counters and tests. */
    public enum Fault {
        /** The blob ends before the length field, the header, or the last tensor does. */
        TRUNCATED,
        /** The stated header length is beyond the cap of the format, 100 000 000 bytes. */
        HEADER_TOO_LONG,
        /** The header is not a JSON object of tensor entries. */
        BAD_JSON,
        /** A tensor, a metadata key, or a key of an entry is named twice. */
        DUPLICATE_KEY,
        /** Two tensors share bytes. */
        OVERLAP,
        /** Bytes between two tensors belong to none. */
        HOLE,
        /** A size or offset is negative, or does not fit 63 bits. */
        OVERFLOW,
        /** The shape needs another number of bytes than the offsets span. */
        SHAPE_AGAINST_BYTES,
        /** An element type other than those of {@link DType}. */
        UNKNOWN_DTYPE,
        /** Bytes behind the last tensor. */
        TRAILING_BYTES,
        /** A tensor the reader needs is not in the blob. */
        MISSING_TENSOR,
        /** A file of tensors that the index of several names is not there. */
        MISSING_SHARD,
        /** A tensor is there with another number of dimensions, or other sizes, than the reader needs. */
        WRONG_SHAPE,
        /** A tensor is there with another element type than the reader needs. */
        WRONG_DTYPE,
        /** The checksum in the metadata is not that of the content, or is missing where there must be one. */
        CHANGED_CONTENT,
        /** The file is of another kind: an archive, a web page, a pointer to the content. */
        OTHER_FILE,
        /** A tensor of more than 2 GiB, or of more elements than one array holds. */
        TENSOR_TOO_LARGE
    }

    private final Fault fault;

    public SafetensorsException(Fault fault, String message) {
        super(message);
        this.fault = fault;
    }

    public SafetensorsException(Fault fault, String message, Throwable cause) {
        super(message, cause);
        this.fault = fault;
    }

    public Fault fault() {
        return fault;
    }
}
