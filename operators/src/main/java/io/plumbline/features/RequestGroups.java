package io.plumbline.features;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Rows in at most {@value #MOST} groups of whole requests, which are independent of each other, and bootstrap samples
 * of these groups.
 *
 * <p>A group holds as many requests as another or one more, whichever rows they have. The samples are the same for the
 * same number of groups.
 *
 * @param ofRow the group of each row
 * @param count how many groups there are
 */
record RequestGroups(int[] ofRow, int count) {

    /** The most groups, which bounds the cost of a feature; 32 order the recordings' features no better. */
    static final int MOST = 16;

    private static final int SAMPLES = 200;
    private static final long SEED = 5;

    static RequestGroups of(long[] requests) {
        long[] distinct = Arrays.stream(requests).distinct().sorted().toArray();
        int[] ofRow = new int[requests.length];
        for (int i = 0; i < ofRow.length; i++) {
            ofRow[i] = Arrays.binarySearch(distinct, requests[i]) % MOST;
        }
        return new RequestGroups(ofRow, Math.min(MOST, distinct.length));
    }

    /**
     * A bootstrap sample.
     *
     * @param groups how often each group was drawn
     * @param pairs twice the product of that for two groups, (1, 0), (2, 0), (2, 1), (3, 0) and so on
     */
    record Sample(double[] groups, double[] pairs) {

        static Sample of(double[] groups) {
            double[] pairs = new double[groups.length * (groups.length - 1) / 2];
            int pair = 0;
            for (int g = 0; g < groups.length; g++) {
                for (int h = 0; h < g; h++) {
                    pairs[pair++] = 2.0 * groups[g] * groups[h];
                }
            }
            return new Sample(groups, pairs);
        }
    }

    /** Returns the sample that has every group once. */
    Sample whole() {
        double[] once = new double[count];
        Arrays.fill(once, 1.0);
        return Sample.of(once);
    }

    /** Returns {@value #SAMPLES} bootstrap samples. */
    List<Sample> samples() {
        Random random = new Random(SEED);
        List<Sample> samples = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            double[] drawn = new double[count];
            for (int draw = 0; draw < count; draw++) {
                drawn[random.nextInt(count)]++;
            }
            samples.add(Sample.of(drawn));
        }
        return samples;
    }
}
