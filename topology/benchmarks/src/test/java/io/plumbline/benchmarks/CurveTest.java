package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.benchmarks.Curve.Point;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CurveTest {

    @Test
    void powerLawHasItsExponentAndNoError() {
        List<Point> points =
                Stream.of(64, 256, 768).map(d -> new Point(d, 3.0 * d * d)).toList();
        Curve curve = Curve.through("update", "d", "us", points);
        assertEquals(2.0, curve.exponent(), 1e-12);
        assertEquals(0.0, curve.error(), 1e-12);
    }

    @Test
    void scatterShowsInTheError() {
        Curve curve =
                Curve.through("update", "d", "us", List.of(new Point(1, 1), new Point(10, 20), new Point(100, 100)));
        // Log10 of the costs: 0, 1.301, 2. Slope 1; residuals -0.1003, 0.2007, -0.1003; their squares sum to 0.0604.
        assertEquals(1.0, curve.exponent(), 1e-12);
        assertEquals(Math.sqrt(0.0604 / 2), curve.error(), 1e-3);
    }

    @Test
    void oneSizeHasNoExponent() {
        List<Point> same = List.of(new Point(8, 1), new Point(8, 2));
        assertThrows(IllegalArgumentException.class, () -> Curve.through("update", "d", "us", same));
    }
}
