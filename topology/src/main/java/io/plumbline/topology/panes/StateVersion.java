package io.plumbline.topology.panes;

import java.nio.ByteBuffer;

/** Refuses state that another version of the program wrote. */
public final class StateVersion {

    private StateVersion() {}

    /** The bytes behind the version byte. */
    public static ByteBuffer open(String what, byte expected, byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        int found = bytes.length == 0 ? -1 : buffer.get();
        if (found != expected) {
            throw new IllegalStateException(
                    "the state store holds a %s of version %d, this program writes %d; reset the application's state"
                            .formatted(what, found, expected));
        }
        return buffer;
    }

    public static void requireLength(String what, int expected, byte[] bytes) {
        if (bytes.length != expected) {
            throw new IllegalStateException(
                    "the state store holds a %s of %d bytes, expected %d; reset the application's state"
                            .formatted(what, bytes.length, expected));
        }
    }
}
