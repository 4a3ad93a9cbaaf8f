package io.plumbline.comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.apache.commons.math3.distribution.TDistribution;
import org.junit.jupiter.api.Test;

class EstimateTest {

    @Test
    void theIntervalOfAMeanIsStudentsIntervalOfTheMeansOfGroups() {
        double[] groups = {3.0, 1.0, 4.0, 1.0, 5.0};
        double mean = 2.8;
        double variance =
                Arrays.stream(groups).map(one -> (one - mean) * (one - mean)).sum() / 4.0;
        double width = new TDistribution(4.0).inverseCumulativeProbability(0.975) * Math.sqrt(variance / 5.0);
        Estimate found =
                Estimate.of(5, -10.0, 10.0, group -> Estimate.without(groups, group) / (group < 0 ? 5.0 : 4.0));
        assertEquals(mean, found.value(), 1e-15);
        assertEquals(mean - width, found.low(), 1e-12);
        assertEquals(mean + width, found.high(), 1e-12);
    }

    @Test
    void theIntervalEndsWhereTheFigureDoes() {
        Estimate found = Estimate.of(2, 0.0, 1.0, group -> group < 0 ? 0.5 : group);
        assertEquals(new Estimate(0.5, 0.0, 1.0), found);
    }
}
