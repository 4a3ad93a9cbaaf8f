package io.plumbline.groups;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.GroupLevels;
import io.plumbline.judgement.Threshold;
import io.plumbline.linalg.Matrix;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Requests in 32 directions of their own, and some that share one; every request is unusual. */
class RecentGroupsTest {

    private static final int P = 32;
    private static final long MINUTE = 60_000;

    private final Random random = new Random(3);
    private int names;

    private static GroupSpace space(double location) {
        Matrix basis = Matrix.identity(P);
        double[] centre = new double[P];
        centre[0] = location;
        return GroupSpace.of(RequestProjection.of(basis).id(), basis, centre, 1.0, new double[] {0.01}, new double[0]);
    }

    /** A request along an axis, but for some noise. */
    private RequestTotal along(int axis) {
        double[] sum = new double[P];
        for (int i = 0; i < P; i++) {
            sum[i] = 0.03 * random.nextGaussian() + (i == axis ? 1.0 : 0.0);
        }
        int name = names++;
        return new RequestTotal(name, "r" + name, 1, sum);
    }

    /** A window of requests, the first ones along one axis and each other along its own. */
    private List<RequestTotal> window(int requests, int alike, int axis) {
        List<RequestTotal> window = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            window.add(along(i < alike ? axis : 1 + (names % (P - 2))));
        }
        return window;
    }

    private static RecentGroups.Step after(RecentGroups memory, int minute, List<RequestTotal> window) {
        return memory.after(space(0.0), minute * MINUTE, (minute + 1) * MINUTE, window, null);
    }

    /** A window that looked like a sample would have a group in it held against the level of fewer. */
    @Test
    void anErasedRequestLeavesTheOthersOfItsWindowCounted() {
        List<RequestTotal> window = window(40, 4, 0);
        RecentGroups memory = after(RecentGroups.NONE, 0, window).memory();
        RequestTotal erased = window.get(0);
        RecentGroups left = memory.without(erased.request(), "r" + erased.request());
        List<RequestTotal> next = window(10, 3, 0);
        assertEquals(39 + 10, after(left, 1, next).lookedAt());
    }

    @Test
    void threeRequestsOfOneKindAreAGroupAlsoWhereTheyCameInThreeWindows() {
        RecentGroups memory = RecentGroups.NONE;
        RecentGroups.Step step = after(memory, 0, List.of(along(0), along(5)));
        assertEquals(List.of(), step.groups());
        step = after(step.memory(), 1, List.of(along(0), along(6)));
        assertEquals(List.of(), step.groups());
        step = after(step.memory(), 2, List.of(along(0), along(7)));
        assertEquals(1, step.groups().size());
        RecentGroups.Seen seen = step.groups().get(0);
        assertEquals(1, seen.number());
        assertEquals(3, seen.group().size());
        assertEquals(1, seen.inWindow());
        assertEquals(0, seen.firstMs());
        assertEquals(3 * MINUTE, seen.lastMs());
        assertEquals(6, step.requests());
        assertEquals(0.5, seen.group().share(), 1e-12);
    }

    @Test
    void aGroupKeepsItsNumberOverWindowsAndOverARestart() {
        RecentGroups memory = after(RecentGroups.NONE, 0, List.of(along(0), along(0), along(0)))
                .memory();
        for (int minute = 1; minute < 6; minute++) {
            memory = RecentGroups.decode(ByteBuffer.wrap(memory.encode()));
            RecentGroups.Step step = after(memory, minute, List.of(along(9), along(9), along(9), along(9), along(0)));
            assertEquals(
                    List.of(2, 1),
                    step.groups().stream().map(RecentGroups.Seen::number).toList());
            assertEquals(0, step.groups().get(1).firstMs());
            memory = step.memory();
        }
        RecentGroups.Step later = after(memory, 6, window(200, 0, 0));
        later = after(later.memory(), 7, List.of(along(0), along(0), along(0)));
        assertTrue(
                later.groups().stream().anyMatch(seen -> seen.number() == 1),
                "it was forgotten as requests and not as a group");
    }

    @Test
    void aboutAHundredAndTwentyRequestsArePooled() {
        RecentGroups memory = RecentGroups.NONE;
        for (int minute = 0; minute < 12; minute++) {
            memory = after(memory, minute, window(50, 0, 0)).memory();
            assertTrue(memory.windows().size() <= 3, "windows of 50");
        }
        assertEquals(150, after(memory, 12, window(50, 0, 0)).requests());
        assertEquals(200, after(memory, 12, window(200, 0, 0)).requests(), "a large window stands alone");
        for (int minute = 12; minute < 90; minute++) {
            memory = after(memory, minute, List.of(along(0))).memory();
        }
        assertTrue(memory.windows().size() <= RecentGroups.MOST_WINDOWS);
    }

    @Test
    void windowsThatOverlapAreNotPooledAndAnotherBaselineBeginsAnew() {
        RecentGroups memory =
                after(RecentGroups.NONE, 0, List.of(along(0), along(0))).memory();
        RecentGroups.Step overlapping =
                memory.after(space(0.0), MINUTE / 2, 3 * MINUTE / 2, List.of(along(0), along(0)), null);
        assertEquals(2, overlapping.requests());
        RecentGroups.Step other = memory.after(space(0.25), MINUTE, 2 * MINUTE, List.of(along(0)), null);
        assertEquals(1, other.requests());
    }

    @Test
    void hoppingWindowsArePooledWithThoseThatEndedBefore() {
        List<RequestTotal> halves = List.of(along(0), along(0), along(0), along(0), along(0), along(0), along(0));
        RecentGroups memory = RecentGroups.NONE;
        List<Long> pooled = new ArrayList<>();
        for (int half = 0; half + 1 < halves.size(); half++) {
            long startMs = half * MINUTE / 2;
            RecentGroups.Step step =
                    memory.after(space(0.0), startMs, startMs + MINUTE, halves.subList(half, half + 2), null);
            pooled.add(step.requests());
            memory = RecentGroups.decode(ByteBuffer.wrap(step.memory().encode()));
        }
        assertEquals(List.of(2L, 2L, 4L, 4L, 6L, 6L), pooled);
    }

    @Test
    void aGroupOfSampledRequestsIsHeldAgainstTheRequestsThatTheSampleCameAmong() {
        RecentGroups.Step large = after(RecentGroups.NONE, 0, window(1_024, 1_024, 0));
        assertEquals(1_024, large.requests());
        assertEquals(128, large.groups().get(0).group().size());
        assertEquals(128, large.lookedAt());
        GroupLevels levels = new GroupLevels(
                new Threshold.FalseAlarms(
                        AlarmBudget.standard(), AlarmLaw.tumbling(DriftPolicy.STANDARD, Duration.ofMinutes(1))),
                60,
                0.1,
                TrafficGroup.FEWEST);
        assertTrue(known(levels.level(large.requests())) >= 128, "of all requests, which no group can exceed");
        assertTrue(known(levels.level(large.lookedAt())) < 128);
        RecentGroups.Step small = after(large.memory(), 1, window(10, 4, 3));
        assertEquals(1_034, small.requests());
        assertEquals(138, small.lookedAt(), "all of the small window and an eighth of the large one");
    }

    private static double known(Threshold.Level level) {
        return assertInstanceOf(Threshold.Level.Known.class, level).value();
    }

    @Test
    void theOrderOfRequestsInAWindowChangesNothing() {
        List<RequestTotal> window = window(40, 6, 0);
        List<RequestTotal> shuffled = new ArrayList<>(window);
        Collections.shuffle(shuffled, random);
        assertArrayEquals(
                after(RecentGroups.NONE, 0, window).memory().encode(),
                after(RecentGroups.NONE, 0, shuffled).memory().encode());
    }

    @Test
    void whatIsRememberedComesBackAsItWas() {
        RecentGroups memory = after(RecentGroups.NONE, 0, window(60, 5, 0)).memory();
        RecentGroups.Step two = after(memory, 1, List.of(new RequestTotal(7, null, 1, along(0).sum())));
        byte[] bytes = two.memory().encode();
        assertArrayEquals(bytes, RecentGroups.decode(ByteBuffer.wrap(bytes)).encode());
        assertArrayEquals(
                RecentGroups.NONE.encode(),
                RecentGroups.decode(ByteBuffer.wrap(RecentGroups.NONE.encode())).encode());
    }
}
