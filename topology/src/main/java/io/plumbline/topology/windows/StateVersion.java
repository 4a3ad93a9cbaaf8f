package io.plumbline.topology.windows;

/** Refuses state that another version of the program wrote. */
final class StateVersion {

    private StateVersion() {}

    static void require(String what, byte expected, byte found) {
        if (found != expected) {
            throw new IllegalStateException(
                    "the state store holds a %s of version %d, this program writes %d; reset the application's state"
                            .formatted(what, found, expected));
        }
    }
}
