package io.plumbline.wire;

import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Some of the tensors of a record of a site with several targets, for the same rows: what a server sends that hands out
 * its layers one by one. Parts are joined by {@link #plus} until they hold every tensor of the site.
 *
 * <p><b>Size.</b> Some hundred bytes beside the parts' own bytes, which are not copied before {@link #record}.
 *
 * <p>Immutable and thread-safe; the bytes must not be changed.
 */
public final class ActivationPart {

    /** The order of tensors in a joined record: activations by layer, targets by layer, then token ids. */
    private static final Comparator<String> ORDER = Comparator.<String>comparingInt(name ->
                    name.startsWith(TargetBlock.ACTIVATIONS_OF) ? 0 : name.startsWith(TargetBlock.TARGETS_OF) ? 1 : 2)
            .thenComparingInt(String::length)
            .thenComparing(Comparator.naturalOrder());

    private final SortedMap<String, Tensor> tensors;
    private final int rows;

    private ActivationPart(SortedMap<String, Tensor> tensors, int rows) {
        this.tensors = tensors;
        this.rows = rows;
    }

    /**
     * Reads the header of a part; tensors of other names than these and {@code token_ids} are left out.
     *
     * @param wanted the tensors that the site's blocks are made of, see {@link TargetBlock#tensors}
     * @throws SafetensorsException when the blob itself is wrong
     * @throws ActivationBatchException when none of the tensors is there, or they are not of the same rows
     */
    public static ActivationPart parse(byte[] blob, KnownHeaders known, Set<String> wanted) {
        Safetensors read = Safetensors.parse(blob, ActivationBlob.LONGEST_HEADER, known);
        SortedMap<String, Tensor> tensors = new TreeMap<>(ORDER);
        for (String name : wanted) {
            if (read.contains(name)) {
                Tensor tensor = read.tensor(name);
                tensors.put(name, name.equals(ActivationTensors.TOKEN_IDS) ? tensor : ActivationTensors.matrix(tensor));
            }
        }
        if (tensors.isEmpty()) {
            throw new ActivationBatchException("a part has at least one of the tensors %s; it has %s"
                    .formatted(wanted.stream().sorted(ORDER).toList(), read.names()));
        }
        if (read.contains(ActivationTensors.TOKEN_IDS)) {
            tensors.put(ActivationTensors.TOKEN_IDS, read.tensor(ActivationTensors.TOKEN_IDS));
        }
        Tensor first = tensors.values().iterator().next();
        for (Tensor tensor : tensors.values()) {
            requireRows(tensor, rowsOf(first), first.name());
        }
        return new ActivationPart(tensors, rowsOf(first));
    }

    private static int rowsOf(Tensor tensor) {
        return tensor.shape().isEmpty() ? 0 : tensor.size(0);
    }

    private static void requireRows(Tensor tensor, int rows, String like) {
        if (rowsOf(tensor) != rows) {
            throw new ActivationBatchException("tensor \"%s\": shape %s, expected as many rows as \"%s\" has, %d"
                    .formatted(tensor.name(), tensor.shape(), like, rows));
        }
    }

    /** Returns the names of the tensors, in the order of a joined record. */
    public List<String> names() {
        return List.copyOf(tensors.keySet());
    }

    /** Returns the number of rows, which all tensors have. */
    public int rows() {
        return rows;
    }

    /** Returns whether every tensor of the other part is here, with the same bytes. */
    public boolean holds(ActivationPart other) {
        return other.tensors.values().stream().allMatch(tensor -> {
            Tensor own = tensors.get(tensor.name());
            return own != null && isSame(own, tensor);
        });
    }

    private static boolean isSame(Tensor one, Tensor other) {
        return one.dtype() == other.dtype()
                && one.shape().equals(other.shape())
                && one.bytes().equals(other.bytes());
    }

    /**
     * Returns the tensors of both.
     *
     * @throws ActivationBatchException where they are not of the same number of rows, or have one tensor with different
     *     bytes
     */
    public ActivationPart plus(ActivationPart other) {
        SortedMap<String, Tensor> joined = new TreeMap<>(tensors);
        String first = tensors.firstKey();
        for (Tensor tensor : other.tensors.values()) {
            requireRows(tensor, rows, first);
            Tensor own = joined.putIfAbsent(tensor.name(), tensor);
            if (own != null && !isSame(own, tensor)) {
                throw new ActivationBatchException(
                        "tensor \"%s\" came before with other bytes: parts of one record have each tensor once, or the same bytes again"
                                .formatted(tensor.name()));
            }
        }
        return new ActivationPart(joined, rows);
    }

    /** Returns the record of these tensors: the same bytes in whatever order they were joined. */
    public byte[] record() {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (Map.Entry<String, Tensor> entry : tensors.entrySet()) {
            Tensor tensor = entry.getValue();
            long[] shape = tensor.shape().stream().mapToLong(Long::longValue).toArray();
            ByteBuffer bytes = tensor.bytes();
            writer.addRaw(entry.getKey(), tensor.dtype(), shape, bytes);
        }
        return writer.toBytes();
    }
}
