package io.plumbline.moments;

/** The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64 bits that spreads every input bit. */
public final class SplitMix {

    private static final long INCREMENT = 0x9E3779B97F4A7C15L;

    private SplitMix() {}

    public static long mix(long value) {
        long z = value + INCREMENT;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Hashes a text by 64-bit FNV-1a over the UTF-16 units, then mixed: the same in every JVM and version. */
    public static long mix(String text) {
        long hash = 0xCBF29CE484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001B3L;
        }
        return mix(hash);
    }
}
