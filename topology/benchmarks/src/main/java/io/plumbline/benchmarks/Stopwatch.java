package io.plumbline.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Times variants in turn, round after round: what slows the machine down for a while slows them all. */
final class Stopwatch {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** The least time that a sample takes, by as many repeats as that needs. */
    private static final long SAMPLE_NANOS = 8_000_000;

    private static final int LEAST_ROUNDS = 3;
    private static final int MOST_ROUNDS = 41;
    private static final int MOST_REPEATS = 1_000_000;
    private static final int LEAST_RUNS = 2;
    private static final long LONGEST_WARM_UP_NANOS = 8_000_000_000L;
    private static final double CLEARLY_FASTER = 0.9;

    private final long warmUpNanos;
    private final long caseNanos;
    private final Set<String> met = new HashSet<>();

    /**
     * @param warmUpNanos without getting faster before a variant counts that is met for the first time; a tenth of it
     *     later
     * @param caseNanos after which no further round is begun, once there were three
     */
    Stopwatch(long warmUpNanos, long caseNanos) {
        this.warmUpNanos = warmUpNanos;
        this.caseNanos = caseNanos;
    }

    /**
     * Nanoseconds of one run of each variant: a row a variant, a column a round.
     *
     * @param code work of one code is done by the same code: a variant that has done such work is warm
     */
    double[][] time(String code, List<Variant> variants) {
        int[] repeats = new int[variants.size()];
        for (int v = 0; v < repeats.length; v++) {
            boolean isNew = met.add(code + " " + variants.get(v).name());
            repeats[v] = warmUp(variants.get(v), isNew ? warmUpNanos : warmUpNanos / 10);
        }
        List<double[]> rounds = new ArrayList<>();
        long begin = System.nanoTime();
        while (rounds.size() < LEAST_ROUNDS || (rounds.size() < MOST_ROUNDS && System.nanoTime() - begin < caseNanos)) {
            double[] round = new double[repeats.length];
            for (int v = 0; v < repeats.length; v++) {
                round[v] = sample(variants.get(v), repeats[v]);
            }
            rounds.add(round);
        }
        double[][] nanos = new double[repeats.length][rounds.size()];
        for (int round = 0; round < rounds.size(); round++) {
            for (int v = 0; v < repeats.length; v++) {
                nanos[v][round] = rounds.get(round)[v];
            }
        }
        return nanos;
    }

    /**
     * Runs it until it has not become faster for a while: on a busy machine the compiler may take seconds. Returns how
     * many repeats fill a sample.
     */
    private static int warmUp(Variant variant, long quietNanos) {
        double fastest = Double.MAX_VALUE;
        long begin = System.nanoTime();
        long faster = begin;
        long now = begin;
        for (int runs = 0;
                runs < LEAST_RUNS || (now - faster < quietNanos && now - begin < LONGEST_WARM_UP_NANOS);
                runs++) {
            double nanos = sample(variant, 1);
            now = System.nanoTime();
            if (nanos < CLEARLY_FASTER * fastest) {
                faster = now;
            }
            fastest = Math.min(fastest, nanos);
        }
        return (int) Math.max(1, Math.min(MOST_REPEATS, Math.ceil(SAMPLE_NANOS / fastest)));
    }

    private static double sample(Variant variant, int repeats) {
        boolean alone = !variant.byTheWall();
        long begin = alone ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
        for (int i = 0; i < repeats; i++) {
            variant.work().run();
        }
        long end = alone ? THREADS.getCurrentThreadCpuTime() : System.nanoTime();
        return Math.max(1.0, (double) (end - begin)) / repeats;
    }
}
