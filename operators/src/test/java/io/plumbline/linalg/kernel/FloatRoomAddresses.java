package io.plumbline.linalg.kernel;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Prints by how many bytes rooms miss a line of the cache; for a process with whole addresses as references. */
final class FloatRoomAddresses {

    private static final int LINE_BYTES = 64;

    private FloatRoomAddresses() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        for (int length : new int[] {20_000, 36_871, 98_311, 264_199, 1_000_000}) {
            System.out.println(behindLine(FloatRoom.piece(length)));
        }
        System.out.println(behindLine(FloatRoom.piece(5_000_000)));
        System.out.println(behindLine(FloatRoom.whole(1 << 20)));
    }

    private static long behindLine(FloatRoom room) throws ReflectiveOperationException {
        // By reflection: javac warns of the class, and this is the only way to an address.
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field instance = unsafe.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Method base = unsafe.getMethod("arrayBaseOffset", Class.class);
        Method read = unsafe.getMethod("getLong", Object.class, long.class);
        Object memory = instance.get(null);
        Object[] holder = {room.array()};
        long array = (long) read.invoke(memory, holder, ((Number) base.invoke(memory, Object[].class)).longValue());
        long first = array + ((Number) base.invoke(memory, float[].class)).longValue();
        return (first + (long) Float.BYTES * room.start()) % LINE_BYTES;
    }
}
