package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScalingTest {

    @Test
    void everySizeOfTheKernelsHasACurve() {
        Findings findings = new Findings(what -> {});
        new Scaling(new BenchPlan(Set.of(BenchPlan.Part.SCALING), false, false, true, List.of(64), 1, 1), findings)
                .kernels();
        assertEquals(
                List.of("d", "k", "N", "r"),
                findings.curves.stream().map(Curve::variable).toList());
        for (Curve curve : findings.curves) {
            assertTrue(Double.isFinite(curve.exponent()), curve.toString());
            assertTrue(curve.points().stream().allMatch(p -> p.y() > 0.0), curve.toString());
        }
    }
}
