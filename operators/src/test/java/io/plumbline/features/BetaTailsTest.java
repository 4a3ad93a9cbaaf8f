package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.apache.commons.math3.special.Beta;
import org.junit.jupiter.api.Test;

class BetaTailsTest {

    @Test
    void bothTailsAreTheRegularisedBetaFunctionWhereThatIsADouble() {
        Random random = new Random(3);
        for (int i = 0; i < 2_000; i++) {
            double a = 0.5 + 200.0 * random.nextDouble() * random.nextDouble();
            double b = 0.5 + 200.0 * random.nextDouble() * random.nextDouble();
            double x = 0.01 + 0.98 * random.nextDouble();
            BetaTails tails = BetaTails.at(x, a, b);
            String at = "I_%s(%s, %s)".formatted(x, a, b);
            assertEquals(Beta.regularizedBeta(x, a, b), Math.exp(tails.below()), 1e-12, at);
            assertEquals(1.0, Math.exp(tails.below()) + Math.exp(tails.above()), 1e-12, at);
        }
    }

    @Test
    void aTailFarBelowTheSmallestDoubleHasItsLogarithm() {
        // I_x(a, 1) = x^a and I_x(1, b) = 1 - (1 - x)^b.
        assertEquals(5_000.0 * Math.log(0.25), BetaTails.at(0.25, 5_000.0, 1.0).below(), 1e-9);
        assertEquals(5_000.0 * Math.log(0.25), BetaTails.at(0.75, 1.0, 5_000.0).above(), 1e-9);
        assertEquals(0.0, BetaTails.at(0.25, 5_000.0, 1.0).above(), 1e-300);
    }

    @Test
    void bothTailsAreExchangedWithTheirArguments() {
        BetaTails tails = BetaTails.at(0.125, 700.5, 300.5);
        BetaTails exchanged = BetaTails.at(0.875, 300.5, 700.5);
        assertEquals(tails.below(), exchanged.above());
        assertEquals(tails.above(), exchanged.below());
        assertTrue(tails.below() < -700.0, tails.toString());
    }
}
