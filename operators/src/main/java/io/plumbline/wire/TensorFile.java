package io.plumbline.wire;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.util.ArrayList;
import java.util.List;
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

    /** Maps a part of a file, in pieces as a {@link Tensor} has them. */
    static List<ByteBuffer> map(FileChannel file, long begin, long bytes) throws IOException {
        List<ByteBuffer> pieces = new ArrayList<>();
        long done = 0;
        do {
            long length = Math.min(Tensor.PIECE, bytes - done);
            pieces.add(file.map(MapMode.READ_ONLY, begin + done, length).order(ByteOrder.LITTLE_ENDIAN));
            done += length;
        } while (done < bytes);
        return pieces;
    }

    /** Returns whether there is a tensor of that name. */
    default boolean contains(String name) {
        return names().contains(name);
    }
}
