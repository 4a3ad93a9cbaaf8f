package io.plumbline.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Kernels of OpenBLAS for processors of one kind of vector instructions. An OpenBLAS that is older than the processor
 * takes it for one of twenty years ago, and what is measured beside it looks four times too good.
 *
 * @param coreType the value of {@code OPENBLAS_CORETYPE} that chooses them
 * @param width how wide their vectors are, in order
 * @param names what {@code openblas_get_corename()} calls such kernels
 * @param flags what a processor needs for them, by Linux' names; the first is the one to name
 */
record OpenBlasCore(String coreType, int width, Set<String> names, List<String> flags) {

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /** All that need more than SSE, the best last. */
    private static final List<OpenBlasCore> CORES = List.of(
            new OpenBlasCore("Haswell", 1, Set.of("haswell", "zen"), List.of("avx2", "fma")),
            new OpenBlasCore("SkylakeX", 2, Set.of("skylakex"), List.of("avx512f", "avx512bw", "avx512dq", "avx512vl")),
            new OpenBlasCore(
                    "Cooperlake",
                    2,
                    Set.of("cooperlake", "sapphirerapids"),
                    List.of("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16")));

    /**
     * Returns what to say about kernels whose vectors are narrower than this processor's; nothing on processors that
     * are no x86, and where {@code OPENBLAS_CORETYPE} chose the kernels.
     *
     * @param coreName {@code openblas_get_corename()}
     */
    static Optional<String> warning(String coreName) {
        return System.getenv("OPENBLAS_CORETYPE") == null ? warning(coreName, flagsHere()) : Optional.empty();
    }

    static Optional<String> warning(String coreName, Set<String> flags) {
        String name = coreName.toLowerCase(Locale.ROOT);
        int width = CORES.stream()
                .filter(core -> core.names.contains(name))
                .mapToInt(OpenBlasCore::width)
                .max()
                .orElse(0);
        return CORES.stream()
                .filter(core -> flags.containsAll(core.flags) && core.width > width)
                .reduce((worse, better) -> better)
                .map(best ->
                        "WARNING: OpenBLAS runs kernels for %s on a processor that has %s: ratios beside it are too good. Run this again with OPENBLAS_CORETYPE=%s"
                                .formatted(coreName, best.flags.get(0), best.coreType));
    }

    private static Set<String> flagsHere() {
        if (!Files.isReadable(PROCESSORS)) {
            return Set.of();
        }
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith("flags"))
                    .findFirst()
                    .map(line -> Set.copyOf(Arrays.asList(line.split("\\s+", -1))))
                    .orElse(Set.of());
        } catch (IOException e) {
            return Set.of();
        }
    }
}
