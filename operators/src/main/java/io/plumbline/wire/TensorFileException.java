package io.plumbline.wire;

/**
 * Thrown when an archive of tensors, a {@code .npz} or what {@code torch.save} writes, is not what it must be.
 * {@link #fault()} names the way it is wrong.
 */
public final class TensorFileException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /** The ways an archive can be wrong, one name each. */
    public enum Fault {
        /** The file is of another kind: a web page, a pointer to the content. */
        OTHER_FILE,
        /** The file is no zip archive, or ends before it does. */
        NO_ARCHIVE,
        /** The directory of the archive, or an entry of it, points outside the file or contradicts itself. */
        BAD_DIRECTORY,
        /** Two entries have one name, or share bytes. */
        OVERLAP,
        /** An entry is encrypted, or packed otherwise than stored or deflated. */
        UNKNOWN_PACKING,
        /** The bytes of an entry are not those it says: another length or checksum. */
        CHANGED_CONTENT,
        /** The header of an array is not numpy's. */
        BAD_HEADER,
        /** The shape of an array needs another number of bytes than there are. */
        SHAPE_AGAINST_BYTES,
        /** An element type that weights do not have. */
        UNKNOWN_DTYPE,
        /** A pickle with an opcode that a dict of tensors does not need. */
        FOREIGN_OPCODE,
        /** A pickle that names a function or class that a dict of tensors does not need. */
        FOREIGN_GLOBAL,
        /** A pickle that is cut off or contradicts itself. */
        BAD_PICKLE,
        /** More bytes than the memory that Java may use. */
        HEAP_TOO_SMALL,
        /** More bytes than can be read. */
        TOO_LARGE,
        /** An array the reader needs is not there. */
        MISSING_TENSOR
    }

    private final Fault fault;

    public TensorFileException(Fault fault, String message) {
        super(message);
        this.fault = fault;
    }

    public Fault fault() {
        return fault;
    }
}
