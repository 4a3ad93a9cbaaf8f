package io.plumbline.topology.fuzz;

import java.util.List;

/**
 * Reads bytes of others.
 *
 * @param parts what an input consists of
 * @param corpus inputs that are valid; each has as many byte strings as there are parts
 * @param subject reads one input
 * @param bytesPerByte may be allocated per byte of input
 * @param constantBytes may be allocated beside that: an exception with its trace and sentence, parser buffers
 * @param weight how many of all inputs it gets, beside the others
 */
public record FuzzTarget(
        String name,
        List<Part> parts,
        List<List<byte[]>> corpus,
        Subject subject,
        int bytesPerByte,
        long constantBytes,
        int weight) {

    private static final long CONSTANT_BYTES = 192 * 1024;
    private static final int WEIGHT = 4;

    /** Creates a target of several parts. */
    public FuzzTarget(String name, List<Part> parts, List<List<byte[]>> corpus, Subject subject, int bytesPerByte) {
        this(name, parts, corpus, subject, bytesPerByte, CONSTANT_BYTES, WEIGHT);
    }

    /** Returns this target with another cap. */
    public FuzzTarget allowing(long bytes) {
        return new FuzzTarget(name, parts, corpus, subject, bytesPerByte, bytes, weight);
    }

    /** Returns this target with another share of the inputs. */
    public FuzzTarget weighing(int share) {
        return new FuzzTarget(name, parts, corpus, subject, bytesPerByte, constantBytes, share);
    }

    /** Reads an input and uses what came out of it, as the program would. */
    @FunctionalInterface
    public interface Subject {
        /**
         * Returns when the input was taken.
         *
         * @throws IllegalArgumentException or {@link IllegalStateException}, with a sentence, when it is refused;
         *     anything else is a defect
         */
        void read(List<byte[]> parts) throws Exception;
    }

    /** A target of one part. */
    public static FuzzTarget of(String name, Part part, List<byte[]> corpus, int bytesPerByte, OnePart subject) {
        return new FuzzTarget(
                name,
                List.of(part),
                corpus.stream().map(List::of).toList(),
                parts -> subject.read(parts.get(0)),
                bytesPerByte);
    }

    /** Reads an input of one part. */
    @FunctionalInterface
    public interface OnePart {
        void read(byte[] bytes) throws Exception;
    }

    long largestAllocation(List<byte[]> input) {
        return constantBytes
                + bytesPerByte * input.stream().mapToLong(part -> part.length).sum();
    }

    @Override
    public String toString() {
        return name;
    }
}
