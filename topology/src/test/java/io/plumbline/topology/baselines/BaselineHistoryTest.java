package io.plumbline.topology.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.topology.report.Json;
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
    void aRollbackWhileNoInstanceRanIsARecord() {
        BaselineHistory history = of(A, B);
        assertNull(history.noted(Described.started(SITE, "a", 1)), "the version that it heard first, known");
        BaselineVersion noted = Objects.requireNonNull(history.noted(Described.started(SITE, "a", 3)));
        assertEquals(Described.hash("b"), noted.replacesSha256());
        assertEquals(noted, history.with(noted).newest());
    }

    @Test
    void theComparisonIsKeptWhicheverInstanceWritesFirst() {
        BaselineVersion without = Objects.requireNonNull(of(A).noted(Described.started(SITE, "b", 2)));
        assertEquals(B.key(), without.key());
        assertNull(without.comparison());
        BaselineHistory history = of(A, without);
        BaselineVersion with = Objects.requireNonNull(history.noted(B), "one that held both comes later");
        assertEquals(B.comparison(), with.comparison());
        assertEquals(List.of(A, with), history.with(with).taken());
        assertNull(history.with(with).noted(B), "a third one");
        assertNull(of(A, B).noted(Described.started(SITE, "b", 2)), "one that held one comes later");
        assertEquals(List.of(A, B), of(A, B, without).taken(), "both at once");
        assertNull(history.noted(Described.replacing(SITE, "b", 2, "c")), "compared with another");
    }

    @Test
    void theOrderIsThatOfVersionsWhateverThePublishersClocksSay() {
        BaselineVersion early = at(AGAIN, Described.MADE_MS, 3, Described.MADE_MS - 1_000_000);
        assertEquals(List.of(A, B, early), of(A, early, B).taken());
        assertNull(of(A, B, early).noted(Described.started(SITE, "a", 4)));
    }

    @Test
    void aTopicOfConfigurationsThatWasMadeAnewComesAfterTheOneBefore() {
        BaselineVersion anew = at(Described.started(SITE, "a", 1), Described.MADE_MS + 1_000, 1, Described.MADE_MS);
        BaselineVersion noted = Objects.requireNonNull(of(A, B).noted(anew), "not the record of A");
        assertEquals(Described.hash("b"), noted.replacesSha256());
        assertEquals(List.of(A, B, noted), of(A, B, noted).taken());
    }

    @Test
    void whatIsDeletedFromTheTopicIsNoLongerInTheHistory() {
        BaselineVersion proposed = Described.proposed(SITE, "c", "b");
        BaselineHistory history = of(A, B).with(proposed);
        assertEquals(List.of(A), history.without(B.key()).taken());
        assertEquals(proposed, history.without(B.key()).proposed());
        assertNull(history.without(proposed.key()).proposed());
        assertEquals(history, history.without("another"));
    }

    private static BaselineVersion at(BaselineVersion version, long topicMs, long number, long agreedMs) {
        return new BaselineVersion(
                1,
                version.site(),
                version.sha256(),
                version.contentSha256(),
                version.createdMs(),
                version.source(),
                version.revision(),
                version.rows(),
                version.requests(),
                version.rank(),
                version.approver(),
                new BaselineVersion.Taken(topicMs, number, agreedMs + 1, agreedMs),
                version.replacesSha256(),
                version.comparison());
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
    void aRecordIsReadAsItWasWritten() {
        assertEquals(B, Json.read(Json.bytes(B), BaselineVersion.class));
        assertEquals("blocks.7 %d 2 %s".formatted(Described.MADE_MS, Described.hash("b")), B.key());
        assertEquals("blocks.7 proposed", Described.proposed(SITE, "c", "b").key());
    }

    private static BaselineHistory of(BaselineVersion... versions) {
        BaselineHistory history = BaselineHistory.of(SITE);
        for (BaselineVersion version : versions) {
            history = history.with(version);
        }
        return history;
    }
}
