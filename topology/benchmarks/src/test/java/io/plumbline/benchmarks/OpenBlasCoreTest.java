package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenBlasCoreTest {

    private static final Set<String> SSE = Set.of("sse2", "ssse3");
    private static final Set<String> AVX2 = Set.of("sse2", "avx", "avx2", "fma");
    private static final Set<String> AVX512 =
            Set.of("sse2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl");
    private static final Set<String> BF16 =
            Set.of("sse2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16");

    @ParameterizedTest
    @CsvSource({
        "Prescott, AVX2, Haswell",
        "Nehalem, AVX2, Haswell",
        "Sandybridge, AVX2, Haswell",
        "Prescott, AVX512, SkylakeX",
        "Haswell, AVX512, SkylakeX",
        "Zen, BF16, Cooperlake",
        "Prescott, BF16, Cooperlake"
    })
    void kernelsNarrowerThanTheProcessorAreWarnedOfByTheCoreTypeToSet(String core, String processor, String coreType) {
        String warning = OpenBlasCore.warning(core, flags(processor)).orElseThrow();
        assertTrue(warning.contains("kernels for " + core + " "), warning);
        assertTrue(warning.endsWith("OPENBLAS_CORETYPE=" + coreType), warning);
    }

    @ParameterizedTest
    @CsvSource({
        "Prescott, SSE",
        "Haswell, AVX2",
        "Zen, AVX2",
        "SkylakeX, AVX512",
        "SkylakeX, BF16",
        "Cooperlake, BF16",
        "SapphireRapids, BF16"
    })
    void kernelsThatUseWhatTheProcessorHasAreNotWarnedOf(String core, String processor) {
        assertEquals(Optional.empty(), OpenBlasCore.warning(core, flags(processor)));
    }

    @Test
    void processorOfAnotherKindIsNotWarnedOf() {
        assertEquals(Optional.empty(), OpenBlasCore.warning("neoversen1", Set.of()));
    }

    private static Set<String> flags(String processor) {
        return switch (processor) {
            case "AVX2" -> AVX2;
            case "AVX512" -> AVX512;
            case "BF16" -> BF16;
            default -> SSE;
        };
    }
}
