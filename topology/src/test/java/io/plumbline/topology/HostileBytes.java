package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Makes good bytes bad in every small way: a codec may refuse them by name, and nothing else may come out of it. */
public final class HostileBytes {

    private static final int MUTATIONS = 4_000;

    private HostileBytes() {}

    /** Requires that every prefix is refused, and every mutation refused or read. */
    public static void check(byte[] good, Consumer<byte[]> decode) {
        decode.accept(good);
        for (int length = 0; length < good.length; length++) {
            byte[] prefix = Arrays.copyOf(good, length);
            RuntimeException refusal = assertThrows(RuntimeException.class, () -> decode.accept(prefix));
            requireNamed(prefix, refusal);
        }
        mutate(good, decode);
    }

    /** Mutates like {@link #check} for layouts that end in bytes of any length: a prefix may be read. */
    public static void mutate(byte[] good, Consumer<byte[]> decode) {
        SplittableRandom random = new SplittableRandom(good.length);
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] bad = Arrays.copyOf(good, Math.max(1, good.length + random.nextInt(-2, 3)));
            for (int flips = random.nextInt(1, 6); flips > 0; flips--) {
                // Mostly the header, with the values lengths and counts are attacked with.
                int at = random.nextInt(random.nextBoolean() ? bad.length : Math.min(bad.length, 40));
                bad[at] = (byte) (random.nextBoolean() ? random.nextInt(256) : random.nextBoolean() ? 0x7f : 0xff);
            }
            try {
                decode.accept(bad);
            } catch (RuntimeException refusal) {
                requireNamed(bad, refusal);
            } catch (OutOfMemoryError allocated) {
                fail("allocates without checking: " + HexFormat.of().formatHex(bad));
            }
        }
    }

    private static void requireNamed(byte[] bytes, RuntimeException refusal) {
        boolean named = refusal instanceof IllegalStateException
                || (refusal instanceof IllegalArgumentException && !(refusal instanceof NumberFormatException));
        if (!named || refusal.getMessage() == null) {
            throw new AssertionError("not a named refusal: " + HexFormat.of().formatHex(bytes), refusal);
        }
    }
}
