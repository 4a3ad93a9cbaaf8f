package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.UsageException;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeadLetterOptionsTest {

    private static DeadLetterOptions of(String reason) {
        DeadLetterOptions options = new DeadLetterOptions();
        options.reasons = List.of(reason);
        return options;
    }

    /** Otherwise a misspelt reason looks like a topic without letters. */
    @Test
    void aReasonThatNoLetterHasIsRefusedWithThoseThereAre() {
        UsageException refused =
                assertThrows(UsageException.class, () -> of("REASON").selection(List.of()));
        assertTrue(
                String.valueOf(refused.getMessage()).startsWith("--reason = REASON: expected one of unknown_site, "),
                refused::toString);
        assertEquals(
                List.of("non_finite"), of("non_finite").selection(List.of()).reasons());
    }
}
