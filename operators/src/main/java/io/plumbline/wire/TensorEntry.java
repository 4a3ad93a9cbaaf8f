package io.plumbline.wire;

import java.util.List;

/**
 * One line of a safetensors header: {@code begin .. end-1} counts from the first byte after the header, {@code place}
 * is the byte of the file where the entry's name stands.
 */
public record TensorEntry(String name, DType dtype, List<Long> shape, long begin, long end, long place) {

    long bytes() {
        return end - begin;
    }

    @Override
    public String toString() {
        return "tensor \"" + name + "\"";
    }
}
