package io.plumbline.wire;

import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;

/** A channel that takes all of every piece it is given, and has nothing to close. */
@FunctionalInterface
public interface ByteSink extends WritableByteChannel {

    /** Takes all bytes of a piece, which is written over afterwards. */
    void take(ByteBuffer piece);

    @Override
    default int write(ByteBuffer piece) {
        int bytes = piece.remaining();
        take(piece);
        return bytes;
    }

    @Override
    default boolean isOpen() {
        return true;
    }

    @Override
    default void close() {}
}
