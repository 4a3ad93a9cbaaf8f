package io.plumbline.benchmarks.operators;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelBenchmarkTest {

    private static final Set<String> AVX2 = Set.of("sse2", "avx", "avx2", "fma");
    private static final Set<String> AVX512 =
            Set.of("sse2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl");

    @ParameterizedTest
    @ValueSource(
            strings = {
                KernelBenchmark.OURS,
                KernelBenchmark.DOUBLES,
                KernelBenchmark.TWO,
                KernelBenchmark.OJALGO,
                KernelBenchmark.COMMONS_MATH
            })
    void everyUpdateInJavaGivesTheExactSums(String variant) {
        KernelBenchmark.Update update = new KernelBenchmark.Update();
        update.d = 40;
        update.rows = 70;
        update.variant = variant;
        update.setUp();
        new KernelBenchmark().update(update);
    }

    @ParameterizedTest
    @ValueSource(strings = {KernelBenchmark.OURS, KernelBenchmark.TOP_K})
    void everyEncoderOfOursGivesTheExactSums(String variant) {
        KernelBenchmark.Encoder encoder = new KernelBenchmark.Encoder();
        encoder.d = 24;
        encoder.threads = 2;
        encoder.variant = variant;
        encoder.setUp();
        new KernelBenchmark().encoder(encoder);
    }

    @Test
    void decompositionsOfOursGiveTheKnownAnswers() {
        KernelBenchmark.Factor factor = new KernelBenchmark.Factor();
        factor.d = 40;
        factor.variant = KernelBenchmark.OURS;
        factor.setUp();
        new KernelBenchmark().cholesky(factor);
        KernelBenchmark.Eigenspace eigenspace = new KernelBenchmark.Eigenspace();
        eigenspace.d = 96;
        eigenspace.variant = KernelBenchmark.WARM;
        eigenspace.setUp();
        new KernelBenchmark().eigenspace(eigenspace);
    }

    @ParameterizedTest
    @ValueSource(doubles = {1e-9, Double.NaN})
    void variantThatComputesSomethingElseIsNotTimed(double error) {
        AtomicInteger timed = new AtomicInteger();
        Variant wrong = new Variant(timed::incrementAndGet, () -> new double[] {1.0, 2.0 + error});
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> wrong.checked("wrong", new double[] {1.0, 2.0}, 1e-12));
        assertTrue(refusal.getMessage().startsWith("wrong gives"), refusal.getMessage());
        assertEquals(0, timed.get());
    }

    @ParameterizedTest
    @CsvSource({
        "Prescott, 256, Haswell",
        "Sandybridge, 256, Haswell",
        "Haswell, 256,",
        "Zen, 256,",
        "Prescott, 512, SkylakeX",
        "Haswell, 512, SkylakeX",
        "SkylakeX, 512,",
        "Cooperlake, 512,",
        "SapphireRapids, 512,"
    })
    void kernelsNarrowerThanTheProcessorAreSeen(String core, int bits, String coreType) {
        assertEquals(Optional.ofNullable(coreType), Rivals.betterKernels(core, bits == 512 ? AVX512 : AVX2));
    }

    @Test
    void nothingIsSaidOfAProcessorOfAnotherKind() {
        assertEquals(Optional.empty(), Rivals.betterKernels("neoversen1", Set.of()));
    }
}
