package io.plumbline.groups;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LinkageTest {

    @Test
    void aChainIsCutWhereTheMeanOverAllPairsIsBelowTheLimit() {
        Matrix cosines = new Matrix(3, 3, new double[] {1.0, 0.9, -0.1, 0.9, 1.0, 0.8, -0.1, 0.8, 1.0});
        // The third is near the second, and .35 from both on average.
        assertEquals(List.of(List.of(0, 1), List.of(2)), Linkage.groups(cosines, 0.5));
        assertEquals(List.of(List.of(0, 1, 2)), Linkage.groups(cosines, 0.35 - 1e-12));
        assertEquals(List.of(List.of(0), List.of(1), List.of(2)), Linkage.groups(cosines, 0.95));
    }

    @Test
    void groupsAreThoseOfThePlainDefinitionInEveryOrderOfTheRequests() {
        for (long seed = 1; seed <= 20; seed++) {
            Random random = new Random(seed);
            int n = 2 + random.nextInt(30);
            Matrix directions = directions(random, n);
            Set<Set<Integer>> expected = byDefinition(Kernels.multiplyTranspose(directions, directions), 0.4);
            List<Integer> order = new ArrayList<>(IntStream.range(0, n).boxed().toList());
            for (int round = 0; round < 3; round++) {
                Matrix shuffled = Matrix.zeros(n, directions.columns());
                for (int i = 0; i < n; i++) {
                    System.arraycopy(
                            directions.values(),
                            order.get(i) * directions.columns(),
                            shuffled.values(),
                            i * directions.columns(),
                            directions.columns());
                }
                Set<Set<Integer>> found = Linkage.groups(Kernels.multiplyTranspose(shuffled, shuffled), 0.4).stream()
                        .map(group -> group.stream().map(order::get).collect(Collectors.toSet()))
                        .collect(Collectors.toSet());
                assertEquals(expected, found, "seed " + seed + ", " + order);
                Collections.shuffle(order, random);
            }
        }
    }

    private static Matrix directions(Random random, int n) {
        Matrix directions = Matrix.zeros(n, 4);
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int j = 0; j < 4; j++) {
                directions.set(i, j, random.nextGaussian() + (j == i % 3 ? 1.5 : 0.0));
                sum += directions.get(i, j) * directions.get(i, j);
            }
            for (int j = 0; j < 4; j++) {
                directions.set(i, j, directions.get(i, j) / Math.sqrt(sum));
            }
        }
        return directions;
    }

    /** Averages over all pairs of members each time. */
    private static Set<Set<Integer>> byDefinition(Matrix cosines, double least) {
        List<Set<Integer>> groups =
                IntStream.range(0, cosines.rows()).mapToObj(Set::of).collect(Collectors.toCollection(ArrayList::new));
        while (true) {
            double best = least;
            Set<Integer> first = Set.of();
            Set<Integer> second = Set.of();
            for (Set<Integer> one : groups) {
                for (Set<Integer> other : groups) {
                    double mean = one.stream()
                            .flatMapToDouble(i -> other.stream().mapToDouble(j -> cosines.get(i, j)))
                            .average()
                            .orElseThrow();
                    if (one != other && mean >= best) {
                        best = mean;
                        first = one;
                        second = other;
                    }
                }
            }
            if (first.isEmpty()) {
                return Set.copyOf(groups);
            }
            Set<Integer> both = new HashSet<>(first);
            both.addAll(second);
            groups.remove(first);
            groups.remove(second);
            groups.add(both);
        }
    }
}
