package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.moments.SecondMomentAccumulator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class KernelBenchTest {

    private static final Stopwatch SHORT = new Stopwatch(1, 1);

    @Test
    void everyVariantOfOursAgreesWithTheAnswer() {
        for (KernelCase work : KernelCases.quick(List.of(40))) {
            List<Variant> variants = OwnKernels.variants(work);
            assertEquals(
                    variants.size(), KernelBench.measure(work, variants, SHORT).size(), work.title());
        }
    }

    @Test
    void variantThatComputesSomethingElseIsNotTimed() {
        KernelCase work = KernelCase.update(16, 8, 1);
        AtomicInteger timed = new AtomicInteger();
        Variant wrong = Variant.single("wrong", timed::incrementAndGet, () -> {
            double[] answer = work.expected();
            answer[3] += 1e-9;
            return answer;
        });
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> KernelBench.measure(work, List.of(wrong), SHORT));
        assertTrue(refusal.getMessage().contains("wrong gives"), refusal.getMessage());
        assertEquals(0, timed.get());
    }

    @Test
    void notANumberAgreesWithNothing() {
        KernelCase work = KernelCase.cholesky(16);
        double[] answer = work.expected();
        answer[0] = Double.NaN;
        assertThrows(IllegalStateException.class, () -> KernelBench.requireEqual(work, "nan", work.expected(), answer));
    }

    @Test
    void variantThatTakesTwiceAsLongIsAheadOfByTwo() {
        Measurement first = Measurement.of("work", "first", "per second", new double[] {8, 9, 10});
        Measurement second = Measurement.of("work", "second", "per second", new double[] {4, 4.5, 50});
        assertEquals(2.0, second.comparedWith(first).ahead(), 1e-12);
        assertEquals(50.0, second.best());
        assertEquals(46.0 / 4.5, second.spread(), 1e-12);
    }

    @Test
    void matrixOfTheEigenspaceHasTheEigenvaluesItSays() {
        KernelCase work = KernelCase.eigenspace(24, 6);
        double[] found = SymmetricEigen.of(new Matrix(24, 24, work.matrix())).values();
        assertArrayEquals(work.expected(), Arrays.copyOf(found, 6), 24 * 8 * 0x1p-53 * 40);
    }

    @Test
    void aggregatesOfTheDslAreTheMomentsOfThePipeline() {
        int d = 24;
        Matrix rows = ActivationsTopic.gaussian(5, 64, d);
        // Integers: any order of summation gives the same bits.
        Arrays.setAll(rows.values(), i -> Math.rint(10 * rows.values()[i]));
        double[] expected = SecondMomentAccumulator.ofDimension(d).add(rows).state();
        double[] plain = new double[expected.length];
        AggregateRun.plainLoops(rows, plain);
        assertArrayEquals(expected, plain);
        double[] ours = new double[expected.length];
        AggregateRun.ourKernel(rows, ours);
        assertArrayEquals(expected, ours);
    }
}
