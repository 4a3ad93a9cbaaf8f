package io.plumbline.groups;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests kinds of requests that lie along an axis each, with noise, and usual ones around the location. */
class TrafficGroupTest {

    private static final int P = 24;
    private static final GroupSpace SPACE = GroupSpace.of(
            RequestProjection.of(Matrix.identity(P)).id(),
            Matrix.identity(P),
            new double[P],
            1.0,
            IntStream.range(0, 20).mapToDouble(i -> 5 * i).toArray(),
            new double[0]);

    private static RequestTotal along(int axis, String name, Random random) {
        double[] sum = new double[P];
        for (int j = 0; j < P; j++) {
            sum[j] = random.nextGaussian() + (j == axis ? 15.0 : 0.0);
        }
        return new RequestTotal(name.hashCode(), name, 1, sum);
    }

    private static RequestTotal odd(String name, Random random) {
        double[] sum = new double[P];
        Arrays.setAll(sum, j -> 4.0 * random.nextGaussian());
        return new RequestTotal(name.hashCode(), name, 1, sum);
    }

    private static List<RequestTotal> many(int count, int axis, String name, Random random) {
        return IntStream.range(0, count)
                .mapToObj(i -> axis < 0 ? odd(name + i, random) : along(axis, name + i, random))
                .toList();
    }

    private static List<RequestTotal> mixture(long seed) {
        Random random = new Random(seed);
        List<RequestTotal> all = new ArrayList<>(many(8, -1, "odd", random));
        all.addAll(many(6, 3, "french", random));
        all.addAll(many(4, 7, "code", random));
        for (int i = 0; i < 22; i++) {
            all.add(new RequestTotal(i, "usual" + i, 1, new double[P]));
        }
        return all;
    }

    private static List<TrafficGroup> groups(List<RequestTotal> totals) {
        return TrafficGroup.of(UnusualRequests.of(SPACE).add(totals), null);
    }

    @Test
    void everyKindIsOneGroupAndOddRequestsAreNone() {
        for (long seed = 1; seed <= 20; seed++) {
            List<TrafficGroup> groups = groups(mixture(seed));
            assertEquals(2, groups.size(), "seed " + seed);
            assertEquals(List.of(6, 4), groups.stream().map(TrafficGroup::size).toList(), "seed " + seed);
            assertTrue(
                    groups.get(0).members().stream().allMatch(one -> one.label().startsWith("french")));
            assertTrue(
                    groups.get(1).members().stream().allMatch(one -> one.label().startsWith("code")));
            assertEquals(6 / 40.0, groups.get(0).share(), 1e-12);
            assertInstanceOf(Familiarity.NotKept.class, groups.get(0).familiarity());
            assertTrue(groups.get(0).shareOfEvidence() > 0.5 && groups.get(0).shareOfEvidence() < 1.0);
        }
    }

    @Test
    void evidenceIsTheSumOfTheCosinesOfAllPairs() {
        TrafficGroup group = groups(mixture(1)).get(0);
        double expected = 0.0;
        for (UnusualRequest one : group.members()) {
            for (UnusualRequest other : group.members()) {
                expected += one.content() == other.content() ? 0.0 : dot(one.direction(), other.direction());
            }
        }
        assertEquals(expected, group.evidence(), 1e-12 * expected);
        assertTrue(group.evidence() <= 6 * 5);
    }

    @Test
    void membersStandInTheOrderOfTheirDistanceFromTheMean() {
        TrafficGroup group = groups(mixture(2)).get(0);
        double[] mean = group.mean();
        for (int i = 1; i < group.size(); i++) {
            assertTrue(dot(group.members().get(i - 1).direction(), mean)
                    >= dot(group.members().get(i).direction(), mean));
        }
        assertEquals(group.members().subList(0, 3), group.nearest(3));
        assertEquals(6, group.nearest(10).size());
    }

    private static double dot(double[] one, double[] other) {
        return IntStream.range(0, one.length)
                .mapToDouble(i -> one[i] * other[i])
                .sum();
    }

    @Test
    void groupsAreBitForBitTheSameInEveryOrderAndPartition() {
        for (long seed = 1; seed <= 10; seed++) {
            List<RequestTotal> totals = new ArrayList<>(mixture(seed));
            String expected = text(groups(totals));
            Random random = new Random(seed);
            for (int round = 0; round < 5; round++) {
                Collections.shuffle(totals, random);
                int cut = random.nextInt(totals.size());
                UnusualRequests pool = UnusualRequests.of(SPACE)
                        .add(totals.subList(cut, totals.size()))
                        .merge(UnusualRequests.of(SPACE).add(totals.subList(0, cut)));
                assertEquals(expected, text(TrafficGroup.of(pool, null)), "seed " + seed + ", cut at " + cut);
            }
        }
    }

    private static String text(List<TrafficGroup> groups) {
        return groups.stream()
                .map(group -> "%s %s %s %s"
                        .formatted(
                                group.share(),
                                group.evidence(),
                                group.shareOfEvidence(),
                                group.members().stream()
                                        .map(UnusualRequest::label)
                                        .toList()))
                .toList()
                .toString();
    }

    @Test
    void copiesAreNoEvidenceButCountInTheShare() {
        Random random = new Random(1);
        RequestTotal template = along(3, "template", random);
        List<RequestTotal> copies = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            copies.add(new RequestTotal(
                    i, "copy" + i, template.rows(), template.sum().clone()));
        }
        assertEquals(List.of(), groups(copies));
        copies.addAll(many(3, 3, "other", random));
        TrafficGroup group = groups(copies).get(0);
        assertEquals(4, group.size());
        assertTrue(group.evidence() <= 4 * 3);
        assertEquals(1.0, group.share(), 1e-12);
    }

    @Test
    void theShareOfAPoolThatKeepsASampleIsEstimatedFromIt() {
        Random random = new Random(2);
        List<RequestTotal> totals = new ArrayList<>(many(300, 3, "french", random));
        totals.addAll(many(100, 7, "code", random));
        for (int i = 0; i < 600; i++) {
            totals.add(new RequestTotal(i, "usual" + i, 1, new double[P]));
        }
        UnusualRequests pool = UnusualRequests.of(SPACE).add(totals);
        assertEquals(UnusualRequests.DEFAULT_CAPACITY, pool.kept().size());
        List<TrafficGroup> groups = TrafficGroup.of(pool, null);
        assertEquals(0.3, groups.get(0).share(), 0.04);
        assertEquals(0.1, groups.get(1).share(), 0.04);
        assertEquals(0.4, groups.get(0).share() + groups.get(1).share(), 1e-12);
    }

    @Test
    void aKindThatTheBaselineHasIsKnownWithItsShareAndAnotherIsNew() {
        Random random = new Random(3);
        List<RequestTotal> baseline = new ArrayList<>(many(2, 3, "french", random));
        for (int i = 0; i < 98; i++) {
            baseline.add(new RequestTotal(i, "usual" + i, 1, new double[P]));
        }
        KnownGroups known = KnownGroups.of(UnusualRequests.of(SPACE).add(baseline));
        List<TrafficGroup> groups = TrafficGroup.of(UnusualRequests.of(SPACE).add(mixture(4)), known);
        assertEquals(
                0.02,
                assertInstanceOf(Familiarity.Known.class, groups.get(0).familiarity())
                        .share(),
                1e-12);
        assertInstanceOf(Familiarity.New.class, groups.get(1).familiarity());
    }

    @Test
    void aPoolOfNothingHasNoGroups() {
        assertEquals(List.of(), groups(List.of()));
        KnownGroups none = KnownGroups.of(UnusualRequests.of(SPACE));
        assertEquals(0, none.shares().length);
        assertInstanceOf(Familiarity.New.class, none.of(new double[P]));
    }

    @Test
    void groupsThatNoBaselineCanHaveAreRefusedInWords() {
        assertRefused("2 means and 1 shares", Matrix.identity(2), 0.1);
        assertRefused("257 means", Matrix.zeros(257, 1), new double[257]);
        assertRefused("length 0.0", Matrix.zeros(1, 2), 0.1);
        assertRefused("length 2.0", new Matrix(1, 2, new double[] {2, 0}), 0.1);
        assertRefused("length NaN", new Matrix(1, 2, new double[] {Double.NaN, 0}), 0.1);
        assertRefused("share 1 of a group is 0.0", Matrix.identity(2), 0.1, 0.0);
        assertRefused("share 0 of a group is NaN", Matrix.identity(2), Double.NaN, 0.1);
        assertRefused("share 0 of a group is 1.5", Matrix.identity(2), 1.5, 0.1);
        double[] shares = {0.25, 1.0};
        assertArrayEquals(shares, new KnownGroups(Matrix.identity(2), shares).shares());
    }

    private static void assertRefused(String words, Matrix means, double... shares) {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> new KnownGroups(means, shares));
        assertTrue(Objects.requireNonNull(refusal.getMessage()).contains(words), refusal::toString);
    }
}
