package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.topology.windows.StoredPanes;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

class AgreementTest extends StoredPanes {

    private static final int WIDTH = 3;

    @Test
    void differencesNameTheKeysWithTheValuesOfBoth() {
        assertEquals(
                "mask = none, here 2 token ids; width of the explainer = 8, here 12; window.advance = 10000 ms, here"
                        + " 20000 ms; window.size = 10000 ms, here 20000 ms",
                agreement(10, 8, Map.of()).differences(agreement(20, 12, Map.of("mask", "2 token ids"))));
        assertEquals("", agreement(10, 8, Map.of()).differences(agreement(10, 8, Map.of())));
    }

    @Test
    void whatWasEncodedIsReadBack() {
        Agreement written = agreement(10, 8, Map.of("mask", "a=b"));
        assertEquals("", Agreement.decode(written.encode()).differences(written));
    }

    @Test
    void aStoreWithAnOpenPaneRefusesAnotherMask() {
        leave(true, false);
        PaneStore<SiteClock> next = restored();
        IllegalStateException refused = assertThrows(
                IllegalStateException.class,
                () -> next.agree(Map.of(SITE, agreement(10, WIDTH, Map.of("mask", "2 token ids")))));
        assertEquals(
                "site " + SITE + ": what the state holds of it was made with other settings: mask = none, here 2 token"
                        + " ids.",
                String.valueOf(refused.getMessage()).replaceAll("(ids\\.).*", "$1"));
        assertDoesNotThrow(() -> next.agree(Map.of(SITE, agreement(10, WIDTH, Map.of()))));
    }

    @Test
    void aSiteWithRecordsUnderWayRefusesAnotherMaskAlsoWhereNoPaneIsOpen() {
        leave(false, false);
        assertThrows(IllegalStateException.class, () -> restored()
                .agree(Map.of(SITE, agreement(10, WIDTH, Map.of("mask", "2 token ids")))));
    }

    @Test
    void aSilentSiteWithNothingOpenTakesAnotherMaskAndKeepsIt() {
        leave(false, true);
        PaneStore<SiteClock> next = restored();
        next.agree(Map.of(SITE, agreement(10, WIDTH, Map.of("mask", "2 token ids"))));
        next.paneToChange(SITE, 0);
        next.touch(SITE);
        next.writeDirty();
        assertThrows(IllegalStateException.class, () -> restored().agree(Map.of(SITE, agreement(10, WIDTH, Map.of()))));
    }

    @Test
    void aPaneOfAnotherInstanceWithOtherWindowsIsRefused() {
        Agreement here = agreement(10, WIDTH, Map.of());
        assertDoesNotThrow(
                () -> here.require(SITE, agreement(10, WIDTH, Map.of()).headers()));
        assertThrows(
                IllegalStateException.class,
                () -> here.require(SITE, agreement(20, WIDTH, Map.of()).headers()));
        assertThrows(
                IllegalStateException.class,
                () -> here.require(SITE, new RecordHeaders().add(Agreement.HEADER, new byte[] {'x', '\n'})));
    }

    /** Leaves the state of a site that had records. */
    private void leave(boolean open, boolean silent) {
        PaneStore<SiteClock> store = store(WIDTH);
        store.agree(Map.of(SITE, agreement(10, WIDTH, Map.of())));
        store.site(SITE).advanceTo(5);
        store.site(SITE).silent(silent);
        store.touch(SITE);
        if (open) {
            store.paneToChange(SITE, 0);
        }
        store.writeDirty();
    }

    private PaneStore<SiteClock> restored() {
        PaneStore<SiteClock> store = store(WIDTH);
        store.reset(Map.of());
        return store;
    }

    private static Agreement agreement(int seconds, int width, Map<String, String> more) {
        Duration size = Duration.ofSeconds(seconds);
        return Agreement.of(new WindowSettings(size, size, Duration.ZERO, null, null), width, more);
    }
}
