package io.plumbline.wire;

import java.io.Closeable;
import java.util.Set;

/**
 * Named tensors in a file, whatever its container: safetensors, a zip of {@code .npy} arrays, or what {@code
 * torch.save} writes.
 */
public interface TensorFile extends Closeable {

    /** Names in the order of the file. */
    Set<String> names();

    /** One tensor, mapped or copied out of the file. */
    Tensor tensor(String name);

    /** Returns whether there is a tensor of that name. */
    default boolean contains(String name) {
        return names().contains(name);
    }
}
