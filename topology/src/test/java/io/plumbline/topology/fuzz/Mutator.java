package io.plumbline.topology.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Makes good inputs bad: the same input for the same seed and index, whatever was made before. */
final class Mutator {

    private static final int LARGEST_INPUT = 1 << 20;
    private static final int HEADER_LENGTH_BYTES = 8;

    private static final long[] LENGTHS = {
        0,
        1,
        -1,
        2,
        7,
        8,
        127,
        128,
        255,
        256,
        0x7fff,
        0x8000,
        0xffff,
        0x10000,
        100_000_000L,
        100_000_001L,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE - 8L,
        Integer.MIN_VALUE,
        1L << 31,
        1L << 32,
        (1L << 32) - 1,
        1L << 52,
        1L << 61,
        1L << 62,
        Long.MAX_VALUE,
        Long.MAX_VALUE - 7,
        Long.MIN_VALUE
    };

    private final FuzzTarget target;
    private final SplittableRandom random;

    private Mutator(FuzzTarget target, SplittableRandom random) {
        this.target = target;
        this.random = random;
    }

    /** The input with this index; the first are the corpus itself. */
    static List<byte[]> input(FuzzTarget target, long seed, int index) {
        if (index < target.corpus().size()) {
            return target.corpus().get(index);
        }
        return new Mutator(target, new SplittableRandom(seed * 0x9E3779B97F4A7C15L + index)).next();
    }

    private List<byte[]> next() {
        List<byte[]> input = new ArrayList<>(
                target.corpus().get(random.nextInt(target.corpus().size())));
        // Mostly one fault: two at once are refused over the first.
        int faults = random.nextBoolean() ? 1 : 1 + random.nextInt(4);
        for (int times = faults; times > 0; times--) {
            int part = random.nextInt(input.size());
            byte[] mutated = mutated(target.parts().get(part), input.get(part), part);
            if (mutated.length <= LARGEST_INPUT) {
                input.set(part, mutated);
            }
        }
        return input;
    }

    private byte[] mutated(Part kind, byte[] bytes, int part) {
        int choice = random.nextInt(10);
        if (choice == 0) {
            List<byte[]> other =
                    target.corpus().get(random.nextInt(target.corpus().size()));
            return splice(bytes, other.get(part));
        }
        return switch (kind) {
            case BYTES -> bytes(bytes);
            case JSON -> choice < 3 ? bytes(bytes) : new TextMutator(random, TextMutator.JSON).mutated(bytes);
            case YAML -> choice < 3 ? bytes(bytes) : new TextMutator(random, TextMutator.YAML).mutated(bytes);
            case SAFETENSORS -> choice < 4 ? bytes(bytes) : safetensors(bytes);
        };
    }

    /** Mutates the header as the JSON it is; the length in front of it mostly says the truth. */
    private byte[] safetensors(byte[] bytes) {
        if (bytes.length < HEADER_LENGTH_BYTES) {
            return bytes(bytes);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long stated = buffer.getLong(0);
        if (stated < 0 || stated > bytes.length - HEADER_LENGTH_BYTES) {
            return bytes(bytes);
        }
        int dataFrom = HEADER_LENGTH_BYTES + (int) stated;
        byte[] header = new TextMutator(random, TextMutator.JSON)
                .mutated(Arrays.copyOfRange(bytes, HEADER_LENGTH_BYTES, dataFrom));
        ByteBuffer whole = ByteBuffer.allocate(HEADER_LENGTH_BYTES + header.length + bytes.length - dataFrom)
                .order(ByteOrder.LITTLE_ENDIAN);
        whole.putLong(random.nextInt(8) == 0 ? anyLength(header.length) : header.length)
                .put(header)
                .put(bytes, dataFrom, bytes.length - dataFrom);
        return whole.array();
    }

    private byte[] bytes(byte[] bytes) {
        if (bytes.length == 0) {
            return randomBytes(random.nextInt(32));
        }
        return switch (random.nextInt(8)) {
            case 0 -> flipped(bytes);
            case 1 -> Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 2 -> extended(bytes);
            case 3, 4 -> withLength(bytes);
            case 5 -> without(bytes);
            case 6 -> withCopy(bytes);
            default -> overwritten(bytes);
        };
    }

    private byte[] flipped(byte[] bytes) {
        byte[] bad = bytes.clone();
        for (int times = 1 + random.nextInt(5); times > 0; times--) {
            bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return bad;
    }

    private byte[] extended(byte[] bytes) {
        byte[] tail = randomBytes(1 + random.nextInt(random.nextInt(10) == 0 ? 4_096 : 24));
        if (random.nextBoolean()) {
            Arrays.fill(tail, (byte) (random.nextBoolean() ? 0 : 0xff));
        }
        return joined(bytes, tail);
    }

    /** Writes a length that lies, where lengths stand: mostly near the front, in either byte order. */
    private byte[] withLength(byte[] bytes) {
        byte[] bad = bytes.clone();
        int size = 1 << random.nextInt(4);
        if (bad.length < size) {
            return flipped(bytes);
        }
        int room = bad.length - size + 1;
        int at = random.nextInt(random.nextInt(4) == 0 ? room : Math.min(room, 64));
        ByteBuffer buffer =
                ByteBuffer.wrap(bad).order(random.nextBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        long length = anyLength(bytes.length);
        switch (size) {
            case 1 -> buffer.put(at, (byte) length);
            case 2 -> buffer.putShort(at, (short) length);
            case 4 -> buffer.putInt(at, (int) length);
            default -> buffer.putLong(at, length);
        }
        return bad;
    }

    private long anyLength(int truth) {
        return random.nextInt(4) == 0 ? truth + random.nextInt(-9, 10) : LENGTHS[random.nextInt(LENGTHS.length)];
    }

    private byte[] without(byte[] bytes) {
        int from = random.nextInt(bytes.length);
        int to = Math.min(bytes.length, from + 1 + random.nextInt(16));
        return joined(Arrays.copyOf(bytes, from), Arrays.copyOfRange(bytes, to, bytes.length));
    }

    private byte[] withCopy(byte[] bytes) {
        int from = random.nextInt(bytes.length);
        int to = Math.min(bytes.length, from + 1 + random.nextInt(64));
        int at = random.nextInt(bytes.length + 1);
        return joined(
                joined(Arrays.copyOf(bytes, at), Arrays.copyOfRange(bytes, from, to)),
                Arrays.copyOfRange(bytes, at, bytes.length));
    }

    private byte[] overwritten(byte[] bytes) {
        byte[] bad = bytes.clone();
        int from = random.nextInt(bad.length);
        byte[] patch = randomBytes(Math.min(bad.length - from, 1 + random.nextInt(16)));
        System.arraycopy(patch, 0, bad, from, patch.length);
        return bad;
    }

    private byte[] splice(byte[] first, byte[] second) {
        return joined(
                Arrays.copyOf(first, random.nextInt(first.length + 1)),
                Arrays.copyOfRange(second, random.nextInt(second.length + 1), second.length));
    }

    private byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    static byte[] joined(byte[] first, byte[] second) {
        byte[] whole = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, whole, first.length, second.length);
        return whole;
    }
}
