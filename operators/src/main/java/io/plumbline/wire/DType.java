package io.plumbline.wire;

import java.nio.ByteBuffer;

/**
 * The element types this project reads and writes, by their safetensors names. All are little-endian on the wire.
 *
 * <p>{@link #F16} is IEEE binary16, {@link #BF16} the upper half of IEEE binary32. Widening to {@code double} is exact
 * for every float type; narrowing rounds to nearest, ties to even, in one step from the {@code double} (not by way of
 * {@code float}, which would round twice), and overflows to infinity.
 */
public enum DType {
    F64(8),
    F32(4),
    F16(2),
    BF16(2),
    I64(8),
    I32(4);

    private static final int F16_FRACTION_BITS = 10;
    private static final int F16_SMALLEST_EXPONENT = -14;
    private static final int F16_INFINITY = 0x7C00;
    private static final int BF16_FRACTION_BITS = 7;
    private static final int BF16_SMALLEST_EXPONENT = -126;
    private static final int BF16_INFINITY = 0x7F80;

    private final int bytes;

    DType(int bytes) {
        this.bytes = bytes;
    }

    /** Bytes per element. */
    public int bytes() {
        return bytes;
    }

    public boolean isFloatingPoint() {
        return this != I64 && this != I32;
    }

    /** Returns whether every value is one of this type, so that writing and reading it again changes no bit. */
    public boolean holds(float[] values) {
        for (float value : values) {
            int bits = Float.floatToRawIntBits(value);
            boolean same =
                    this == BF16 ? (bits & 0xFFFF) == 0 : Float.floatToRawIntBits((float) rounded(value)) == bits;
            if (!same) {
                return false;
            }
        }
        return true;
    }

    /** Writes one value at the buffer's position. For the integer types the value must be a whole number in range. */
    void put(ByteBuffer target, double value) {
        switch (this) {
            case F64 -> target.putDouble(value);
            case F32 -> target.putFloat((float) value);
            case F16 -> target.putShort(narrow(value, F16_FRACTION_BITS, F16_SMALLEST_EXPONENT, F16_INFINITY));
            case BF16 -> target.putShort(narrow(value, BF16_FRACTION_BITS, BF16_SMALLEST_EXPONENT, BF16_INFINITY));
            case I64, I32 -> throw new IllegalArgumentException("a matrix of doubles cannot be written as " + this);
        }
    }

    /** Writes numbers at the buffer's position; each is rounded to nearest where this type does not hold it. */
    public void put(ByteBuffer target, double[] values) {
        for (double value : values) {
            put(target, value);
        }
    }

    /** Writes numbers at the buffer's position; each is rounded to nearest where this type does not hold it. */
    public void put(ByteBuffer target, float[] values) {
        switch (this) {
            case F32 -> {
                target.asFloatBuffer().put(values);
                target.position(target.position() + Float.BYTES * values.length);
            }
            default -> {
                for (float value : values) {
                    put(target, value);
                }
            }
        }
    }

    /** Reads numbers of a floating-point type of at most 32 bits from the buffer's position on, which is exact. */
    public float[] floats(ByteBuffer source, int count) {
        float[] values = new float[count];
        switch (this) {
            case F32 -> {
                source.asFloatBuffer().get(values);
                source.position(source.position() + Float.BYTES * count);
            }
            case F16 -> {
                for (int i = 0; i < count; i++) {
                    values[i] = fromHalf(source.getShort());
                }
            }
            case BF16 -> {
                for (int i = 0; i < count; i++) {
                    values[i] = fromBrain(source.getShort());
                }
            }
            case F64, I64, I32 ->
                throw new IllegalArgumentException(
                        "numbers of type %s are no floats of 32 bits or fewer".formatted(this));
        }
        return values;
    }

    /**
     * Returns what a value is after it was written and read again: the nearest one of this type, or an infinity above
     * {@link #largest()}. For the integer types the value itself.
     */
    public double rounded(double value) {
        return switch (this) {
            case F64, I64, I32 -> value;
            case F32 -> (float) value;
            case F16 -> fromHalf(narrow(value, F16_FRACTION_BITS, F16_SMALLEST_EXPONENT, F16_INFINITY));
            case BF16 -> fromBrain(narrow(value, BF16_FRACTION_BITS, BF16_SMALLEST_EXPONENT, BF16_INFINITY));
        };
    }

    /** The largest finite value. */
    public double largest() {
        return switch (this) {
            case F64 -> Double.MAX_VALUE;
            case F32 -> Float.MAX_VALUE;
            case F16 -> 65504.0;
            case BF16 -> 0x1.FEp127;
            case I64 -> Long.MAX_VALUE;
            case I32 -> Integer.MAX_VALUE;
        };
    }

    public static float fromHalf(short half) {
        int sign = (half & 0x8000) << 16;
        int magnitude = half & 0x7FFF;
        if (magnitude >= F16_INFINITY) {
            return Float.intBitsToFloat(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
        }
        // Exponent and fraction moved to their place in a float are 2^112 too small, subnormals included.
        return Float.intBitsToFloat(sign | Float.floatToRawIntBits(Float.intBitsToFloat(magnitude << 13) * 0x1p112f));
    }

    public static float fromBrain(short brain) {
        return Float.intBitsToFloat(brain << 16);
    }

    /**
     * The 16-bit pattern nearest to {@code value}: sign, exponent field, {@code fractionBits} of fraction.
     *
     * <p>The significand is rounded as an integer with its leading bit, so that a carry runs into the exponent field by
     * itself and subnormals need no case of their own.
     */
    private static short narrow(double value, int fractionBits, int smallestExponent, int infinity) {
        int sign = Double.doubleToRawLongBits(value) < 0 ? 0x8000 : 0;
        if (Double.isNaN(value)) {
            return (short) (sign | infinity | 1 << (fractionBits - 1));
        }
        double magnitude = Math.abs(value);
        if (magnitude >= 0x1p128) {
            return (short) (sign | infinity);
        }
        int exponent = Math.max(Math.getExponent(magnitude), smallestExponent);
        int significand = (int) Math.rint(Math.scalb(magnitude, fractionBits - exponent));
        int bits = ((exponent - smallestExponent) << fractionBits) + significand;
        return (short) (sign | Math.min(bits, infinity));
    }
}
