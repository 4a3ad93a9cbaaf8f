package io.plumbline.judgement;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;

/**
 * Computes the evidence by its definition: the mean over cuts and shares of the sum, over all windows the drift may
 * have begun at, of the product of likelihood ratios of all values since, one value at a time from the urn, in 50
 * digits.
 */
final class SequentialOracle {

    private static final MathContext DIGITS = new MathContext(50);

    private SequentialOracle() {}

    static double evidence(SequentialCuts cuts, int clean, List<double[]> windows) {
        BigDecimal sum = BigDecimal.ZERO;
        for (SequentialCuts.Cut cut : cuts.cuts()) {
            for (double share : SequentialDetector.SHARES) {
                for (int begin = 0; begin < windows.size(); begin++) {
                    sum = sum.add(ratio(cut, BigDecimal.valueOf(share), clean, windows, begin), DIGITS);
                }
            }
        }
        return sum.divide(new BigDecimal(cuts.cuts().size() * SequentialDetector.SHARES.length), DIGITS)
                .doubleValue();
    }

    private static BigDecimal ratio(
            SequentialCuts.Cut cut, BigDecimal share, int clean, List<double[]> windows, int begin) {
        BigDecimal product = BigDecimal.ONE;
        BigDecimal beyond = BigDecimal.valueOf(cut.beyond());
        long balls = clean + 1L;
        long above = cut.rank();
        for (int window = 0; window < windows.size(); window++) {
            BigDecimal before = fraction(above, balls);
            for (double value : windows.get(window)) {
                BigDecimal drawn = fraction(above, balls);
                BigDecimal clear = BigDecimal.ONE.subtract(share);
                BigDecimal drift;
                BigDecimal chance;
                if (value > cut.value()) {
                    drift = clear.multiply(before).multiply(beyond).add(share);
                    chance = drawn.multiply(beyond);
                } else if (value > cut.cleanValue()) {
                    drift = clear.multiply(before).multiply(BigDecimal.ONE.subtract(beyond));
                    chance = drawn.multiply(BigDecimal.ONE.subtract(beyond));
                } else {
                    drift = clear.multiply(BigDecimal.ONE.subtract(before));
                    chance = BigDecimal.ONE.subtract(drawn);
                }
                if (window >= begin) {
                    product = product.multiply(drift.divide(chance, DIGITS), DIGITS);
                }
                above += value > cut.cleanValue() ? 1 : 0;
                balls++;
            }
        }
        return product;
    }

    private static BigDecimal fraction(long of, long all) {
        return BigDecimal.valueOf(of).divide(BigDecimal.valueOf(all), DIGITS);
    }
}
