package io.plumbline.benchmarks.study;

import io.plumbline.benchmarks.study.SyntheticWorld.Feature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * A change of a world, and which columns of the true dictionary it makes wrong.
 *
 * @param name for the table
 * @param world the changed one
 * @param wrong features whose direction changed
 */
record SyntheticDrift(String name, SyntheticWorld world, Set<Integer> wrong) {

    private static final double NEW_PROBABILITY = 0.02;

    /** Returns all four drifts, of a size that suits a world of so many features. */
    static List<SyntheticDrift> all(SyntheticWorld world, int dimension, long seed) {
        return List.of(
                rates(world, seed),
                swapped(world),
                added(world, dimension, seed + 2),
                rotated(world, dimension, seed + 3));
    }

    /**
     * Returns a drift in which a tenth of the features fire three times as often, a tenth a third as often; nothing
     * else changes.
     */
    private static SyntheticDrift rates(SyntheticWorld world, long seed) {
        Feature[] features = world.features();
        List<Integer> shuffled = shuffled(features.length, seed);
        int tenth = features.length / 10;
        for (int i = 0; i < 2 * tenth; i++) {
            int j = shuffled.get(i);
            double often = features[j].probability() * (i < tenth ? 3.0 : 1.0 / 3.0);
            features[j] = features[j].firing(Math.min(0.8, often));
        }
        return new SyntheticDrift("firing rates", world.with(features), Set.of());
    }

    /**
     * Returns a drift in which the children of each root hang under another root, which they fire with as often as they
     * did with their own.
     */
    private static SyntheticDrift swapped(SyntheticWorld world) {
        Feature[] features = world.features();
        List<Integer> roots = new ArrayList<>();
        Set<Integer> withChildren = new TreeSet<>();
        for (Feature feature : features) {
            if (feature.parent() >= 0 && features[feature.parent()].parent() < 0) {
                withChildren.add(feature.parent());
            }
        }
        roots.addAll(withChildren);
        // Neighbours are as frequent as each other, so that rates hardly change.
        int[] other = new int[features.length];
        for (int i = 0; i + 1 < roots.size(); i += 2) {
            other[roots.get(i)] = roots.get(i + 1);
            other[roots.get(i + 1)] = roots.get(i);
        }
        if (roots.size() % 2 == 1) {
            other[roots.get(roots.size() - 1)] = roots.get(roots.size() - 1);
        }
        for (int j = 0; j < features.length; j++) {
            int parent = features[j].parent();
            if (parent >= 0 && features[parent].parent() < 0) {
                features[j] = features[j].below(other[parent]);
            }
        }
        return new SyntheticDrift("branches swapped", world.with(features), Set.of());
    }

    /** Returns a drift by features that the dictionary does not have: one to 256 of its own, each in a row of fifty. */
    private static SyntheticDrift added(SyntheticWorld world, int dimension, long seed) {
        Random random = new Random(seed);
        Feature[] old = world.features();
        Feature[] features = Arrays.copyOf(old, old.length + Math.max(1, old.length / 256));
        for (int j = old.length; j < features.length; j++) {
            features[j] = Feature.alone(random, dimension, NEW_PROBABILITY, 4.5);
        }
        return new SyntheticDrift("new features", world.with(features), Set.of());
    }

    /**
     * Returns a drift in which one in 64 of the features turns by 45 degrees, each in a plane of its own; of the
     * frequent eighth, since rare ones change nothing.
     */
    private static SyntheticDrift rotated(SyntheticWorld world, int dimension, long seed) {
        Random random = new Random(seed);
        Feature[] features = world.features();
        Set<Integer> wrong =
                new TreeSet<>(shuffled(features.length / 8, seed).subList(0, Math.max(1, features.length / 64)));
        for (int j : wrong) {
            float[] from = features[j].direction();
            float[] towards = SyntheticWorld.direction(random, dimension);
            double along = 0.0;
            for (int a = 0; a < dimension; a++) {
                along += from[a] * towards[a];
            }
            double rest = Math.sqrt(1.0 - along * along);
            float[] turned = new float[dimension];
            for (int a = 0; a < dimension; a++) {
                turned[a] = (float) (Math.sqrt(0.5) * (from[a] + (towards[a] - along * from[a]) / rest));
            }
            features[j] = features[j].along(turned);
        }
        return new SyntheticDrift("rotation", world.with(features), wrong);
    }

    private static List<Integer> shuffled(int count, long seed) {
        List<Integer> all = new ArrayList<>();
        for (int j = 0; j < count; j++) {
            all.add(j);
        }
        Collections.shuffle(all, new Random(seed));
        return all;
    }
}
