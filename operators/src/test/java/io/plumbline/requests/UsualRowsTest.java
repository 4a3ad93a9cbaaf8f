package io.plumbline.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.moments.SampledRow;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of 20 rows of length 1 in two dimensions, and clean rows up to 1.5. */
class UsualRowsTest {

    private static final UsualRows.Longest CLEAN =
            UsualRows.Longest.of(List.of(row(0, 1, 1), row(0, 1, 1), row(0, 1.5, 1), row(1, 1, 1), row(1, 0.5, 1)));

    @ParameterizedTest
    @ValueSource(doubles = {0.5, 1.5, 2.9})
    void aRowLikeCleanOnesJudges(double first) {
        List<SampledRow> rows = requests(12, first, 1);
        assertEquals(rows, UsualRows.toJudge(rows, rows, CLEAN));
    }

    @Test
    void rowsThatAreMuchLongerDoNot() {
        List<SampledRow> rows = requests(12, 3.1, 1);
        List<SampledRow> usual =
                rows.stream().filter(row -> row.activation()[0] < 3.0f).toList();
        assertEquals(12 * 19, usual.size());
        assertEquals(usual, UsualRows.toJudge(rows, rows, CLEAN));
        List<SampledRow> longTargets = requests(12, 1, 2.1);
        assertEquals(12 * 19, UsualRows.toJudge(longTargets, longTargets, CLEAN).size());
    }

    @Test
    void lengthsAreComparedInMediansOfTheirOwnTraffic() {
        List<SampledRow> rows = requests(12, 1, 1).stream()
                .map(row -> row(row.request(), 10 * row.activation()[0], 10))
                .toList();
        assertEquals(rows, UsualRows.toJudge(rows, rows, CLEAN));
    }

    /** Tests that traffic of long rows is judged as it is, and that no request is left without rows. */
    @Test
    void whereManyRowsAreLongAllJudge() {
        List<SampledRow> eighth = IntStream.range(0, 240)
                .mapToObj(row -> row(row / 20, row % 8 == 0 ? 5 : 1, 1))
                .toList();
        assertEquals(eighth, UsualRows.toJudge(eighth, eighth, CLEAN));
        List<SampledRow> oneRequest = IntStream.range(0, 240)
                .mapToObj(row -> row(row / 20, row / 20 == 3 ? 5 : 1, 1))
                .toList();
        assertEquals(oneRequest, UsualRows.toJudge(oneRequest, oneRequest, CLEAN));
    }

    @Test
    void withoutCleanRowsAllJudge() {
        List<SampledRow> rows = requests(12, 50, 50);
        assertEquals(rows, UsualRows.toJudge(rows, rows, UsualRows.Longest.of(List.of())));
        List<SampledRow> zero = requests(12, 1, 0);
        assertEquals(zero, UsualRows.toJudge(zero, zero, UsualRows.Longest.of(List.of())));
    }

    private static List<SampledRow> requests(int count, double first, double firstTarget) {
        return IntStream.range(0, 20 * count)
                .mapToObj(row -> row(row / 20, row % 20 == 0 ? first : 1, row % 20 == 0 ? firstTarget : 1))
                .toList();
    }

    private static SampledRow row(long request, double length, double targetLength) {
        return new SampledRow(
                request, request, request, new float[] {(float) length, 0}, new float[] {0, (float) targetLength});
    }
}
