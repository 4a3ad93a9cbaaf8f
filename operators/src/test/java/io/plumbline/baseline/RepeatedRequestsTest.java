package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RepeatedRequestsTest {

    private static int repeats(LongStream... recordings) {
        RepeatedRequests requests = new RepeatedRequests();
        for (LongStream recording : recordings) {
            recording.forEach(requests::add);
        }
        return requests.places().cardinality();
    }

    @Test
    void aRecordingTwiceCountsOnceHoweverShort() {
        for (int length : new int[] {1, 2, 3, 7, 8, 400}) {
            assertEquals(
                    length, repeats(LongStream.range(0, length), LongStream.range(0, length)), length + " requests");
        }
        assertEquals(800, repeats(LongStream.range(0, 400), LongStream.range(0, 400), LongStream.range(0, 400)));
    }

    @Test
    void whereRecordingsOverlapTheOverlapCountsOnce() {
        assertEquals(30, repeats(LongStream.range(0, 100), LongStream.range(70, 200)));
        assertEquals(5, repeats(LongStream.range(0, 100), LongStream.range(40, 45), LongStream.range(200, 300)));
    }

    @Test
    void copiesThatComeInTurnOrInAnotherOrderCountOnce() {
        assertEquals(100, repeats(LongStream.range(0, 200).map(place -> place / 2)));
        LongStream mixed = LongStream.range(0, 101).map(place -> place * 37 % 101);
        assertEquals(101, repeats(LongStream.range(0, 101), mixed));
    }

    @Test
    void aRequestThatUsersSendAgainAndAgainCountsEachTime() {
        Random random = new Random(5);
        assertEquals(0, repeats(LongStream.range(0, 1_000).map(place -> random.nextInt(10) < 3 ? -1 : place)));
        assertEquals(0, repeats(LongStream.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 10, 11, 12, 13, 14)));
        int popular = repeats(
                LongStream.range(0, 1_000).map(place -> random.nextInt(5) == 0 ? -1 - random.nextInt(20) : place));
        assertTrue(popular < 40, popular + " of about 180");
    }
}
