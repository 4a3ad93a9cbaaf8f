package io.plumbline.topology.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.topology.report.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests what is written of a baseline that an instance takes over, and what is made of the records. */
class BaselineHistoryTest {

    private static final String SITE = "blocks.7";
    private static final BaselineVersion A = Described.first(SITE, "a");
    private static final BaselineVersion B = Described.replacing(SITE, "b", 2, "a");
    private static final BaselineVersion AGAIN = Described.replacing(SITE, "a", 3, "b");

    @Test
    void theFirstBaselineIsInServiceFromNoEdgeThatIsKnown() {
        BaselineVersion noted = Objects.requireNonNull(BaselineHistory.of(SITE).noted(Described.started(SITE, "a", 1)));
        assertNull(Objects.requireNonNull(noted.taken()).fromMs());
        assertNull(noted.replacesSha256());
    }

    @Test
    void whatAnotherInstanceWroteAndWhatTheSiteHasAlreadyIsNotWrittenAgain() {
        BaselineHistory history = of(A, B);
        assertNull(history.noted(B), "written by another instance");
        assertNull(history.noted(Described.started(SITE, "b", 4)), "a restart with the same baseline");
        assertNull(of(A, B, AGAIN).noted(B), "an instance that lags behind");
    }

    @Test
    void aRollbackIsARecordOfItsOwnAndNeitherOfTheOthersIsLost() {
        BaselineVersion noted = Objects.requireNonNull(of(A, B).noted(AGAIN));
        BaselineHistory history = of(B, noted, A, noted);
        assertEquals(List.of(A, B, noted), history.taken(), "in the order in which they were taken");
        assertEquals(Described.hash("b"), noted.replacesSha256());
        assertEquals(AGAIN.comparison(), noted.comparison());
        assertEquals(history.newest(), noted);
    }

    @Test
    void aComparisonWithAnotherThanTheOneReplacedIsNotWritten() {
        BaselineVersion noted = Objects.requireNonNull(of(A, B).noted(Described.replacing(SITE, "c", 3, "a")));
        assertEquals(Described.hash("b"), noted.replacesSha256());
        assertNull(noted.comparison());
    }

    @Test
    void aProcessThatStartsWithTheProposalTakesItsComparison() {
        BaselineHistory history = of(A, B).with(Described.proposed(SITE, "c", "b"));
        BaselineVersion noted = Objects.requireNonNull(history.noted(Described.started(SITE, "c", 3)));
        assertNotNull(noted.comparison());
        assertNull(history.with(noted).proposed(), "it is in service");
        assertNull(history.with(noted).with(Described.proposed(SITE, "c", "b")).proposed(), "it is in service");
        assertNotNull(history.with(AGAIN).proposed(), "another is");
    }

    @Test
    void aRecordIsReadAsItWasWrittenAndAnotherIsRefused() {
        assertEquals(B, Json.read(Json.bytes(B), BaselineVersion.class));
        assertEquals("blocks.7 2 " + Described.hash("b"), B.key());
        assertEquals("blocks.7 proposed", Described.proposed(SITE, "c", "b").key());
        byte[] newer = Json.text(B).replace("\"schema\":1", "\"schema\":2").getBytes(StandardCharsets.UTF_8);
        assertThrows(IllegalArgumentException.class, () -> Json.read(newer, BaselineVersion.class));
    }

    private static BaselineHistory of(BaselineVersion... versions) {
        BaselineHistory history = BaselineHistory.of(SITE);
        for (BaselineVersion version : versions) {
            history = history.with(version);
        }
        return history;
    }
}
