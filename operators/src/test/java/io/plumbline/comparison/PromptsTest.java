package io.plumbline.comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PromptsTest {

    private static final long[] BEGIN = {0, 7, 8};
    private static final long[] END = {9, 7};

    private static Prompts prompts(long[]... requests) {
        return new Prompts(Arrays.stream(requests)
                .map(ids -> new Prompts.Request(ids.length, ids))
                .toList());
    }

    private static long[] joined(long[]... parts) {
        return Arrays.stream(parts).flatMapToLong(LongStream::of).toArray();
    }

    private static final long[] FIRST = {20, 21, 22, 23, 24};
    private static final long[] SECOND = {30, 31, 32};
    private static final Prompts TEMPLATED = prompts(joined(BEGIN, FIRST, END), joined(BEGIN, SECOND, END));

    @Test
    void aTemplateAroundTheSamePromptsIsNamedWithTheSideThatLacksIt() {
        Prompts bare = prompts(joined(new long[] {0}, FIRST), joined(new long[] {0}, SECOND));
        assertEquals(
                "the chat template is missing in after: tokens that all requests share are 3 at the beginning and 2 at"
                        + " the end before, 1 and 0 after, and 2 of 2 requests are the same between",
                Prompts.missingTemplate(TEMPLATED, bare));
        assertEquals(
                "the chat template is missing in before: tokens that all requests share are 1 at the beginning and 0 at"
                        + " the end before, 3 and 2 after, and 2 of 2 requests are the same between",
                Prompts.missingTemplate(bare, TEMPLATED));
    }

    @Test
    void aTemplateThatPushedTheEndOfThePromptOutOfTheRecordingIsNamed() {
        Prompts cut = prompts(joined(BEGIN, new long[] {20, 21, 22}), joined(BEGIN, new long[] {30, 31}));
        assertNotNull(Prompts.missingTemplate(cut, prompts(FIRST, SECOND)));
    }

    @Test
    void otherPromptsAndTheSamePromptsLackNoTemplate() {
        assertNull(Prompts.missingTemplate(TEMPLATED, TEMPLATED));
        assertNull(Prompts.missingTemplate(TEMPLATED, prompts(SECOND, FIRST)));
        assertNull(Prompts.missingTemplate(TEMPLATED, prompts(FIRST)));
    }

    @Test
    void rowsHaveAPartnerUnlessRequestsRowsOrTokensDiffer() {
        assertNull(Prompts.difference(TEMPLATED, TEMPLATED));
        assertEquals("before has 2 requests, after has 1", Prompts.difference(TEMPLATED, prompts(FIRST)));
        assertEquals(
                "request 1 has 3 rows before and 5 after",
                Prompts.difference(prompts(FIRST, SECOND), prompts(FIRST, FIRST)));
        long[] other = {20, 21, 22, 23, 25};
        assertEquals("request 0 has other token ids from row 4 on", Prompts.difference(prompts(FIRST), prompts(other)));
        Prompts silent = new Prompts(List.of(new Prompts.Request(5)));
        assertNull(Prompts.difference(prompts(FIRST), silent));
    }
}
