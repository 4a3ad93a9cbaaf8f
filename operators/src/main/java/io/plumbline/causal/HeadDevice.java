package io.plumbline.causal;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The processor that runs a head of a file in this process.
 *
 * @param gpu number of a GPU as CUDA counts them, from 0; -1: none, the machine's own processor
 */
public record HeadDevice(int gpu) {

    public static final HeadDevice CPU = new HeadDevice(-1);

    private static final Pattern CUDA = Pattern.compile("cuda(?::(\\d{1,2}))?");

    public HeadDevice {
        if (gpu < -1) {
            throw new IllegalArgumentException("gpu = %d: expected a number of 0 or more, or -1".formatted(gpu));
        }
    }

    /**
     * Reads a device.
     *
     * @param text {@code cpu}, {@code cuda}, or {@code cuda:N}
     * @throws IllegalArgumentException when it is none of these
     */
    public static HeadDevice parse(String text) {
        if (text.equals("cpu")) {
            return CPU;
        }
        Matcher cuda = CUDA.matcher(text);
        if (!cuda.matches()) {
            throw new IllegalArgumentException("expected cpu, cuda or cuda:N, such as cuda:1 for the second GPU");
        }
        return new HeadDevice(cuda.group(1) == null ? 0 : Integer.parseInt(cuda.group(1)));
    }

    public boolean isCpu() {
        return gpu < 0;
    }

    @Override
    public String toString() {
        return isCpu() ? "cpu" : "cuda:" + gpu;
    }
}
