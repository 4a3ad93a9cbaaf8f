package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.MaskedRows;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.HostileBytes;
import io.plumbline.topology.panes.CountsPart;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneKeys;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.RowsRead;
import io.plumbline.topology.panes.SiteClock;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.junit.jupiter.api.Test;

/** Tests round trips, and bytes of others: what level 1 sends and what the stores keep. */
class WindowCodecsTest {

    private static final long US = PaneMessage.application("plumbline");
    private static final MomentTile TILE =
            MomentTile.cut(3, 7, new double[] {1, 2, 3, 4, 5, 6, 7, 8, 9}).get(0);

    @Test
    void aMessageOfAPaneArrivesAsItWasSent() {
        PaneMessage.OfPane sent = new PaneMessage.OfPane(2, -10_000, 10_000, Pane.MOMENT, 7, 3, new byte[] {4, 5, 6});
        PaneMessage.OfPane read = assertInstanceOf(PaneMessage.OfPane.class, PaneMessage.decode(sent.encode(US), US));
        assertEquals(2, read.partition());
        assertEquals(-10_000, read.paneStartMs());
        assertEquals(10_000, read.paneMs());
        assertEquals(Pane.MOMENT, read.what());
        assertEquals(7, read.rows());
        assertEquals(3, read.messages());
        assertArrayEquals(new byte[] {4, 5, 6}, read.bytes());
        HostileBytes.mutate(sent.encode(US), bytes -> PaneMessage.decode(bytes, US));
    }

    /** Sends one pane through the other side and compares what it holds. */
    @Test
    void aPaneArrivesAsItWasSent() {
        Pane sent = Panes.of(3, 8);
        Panes.take(sent, TILE);
        Panes.count(sent, 5, new MaskedRows(17, 4));
        Pane read = Panes.of(3, 8);
        sent.send((what, rows, messages, bytes) -> {
            assertEquals(what == Pane.MOMENT ? 28 : 0, rows, "masked ones too, once");
            read.take(what, messages, bytes);
        });
        assertArrayEquals(sent.moment().state(), read.moment().state());
        assertEquals(sent.counted(), read.counted());
        assertTrue(read.isComplete());
    }

    @Test
    void aPaneThatLacksAMessageIsNotComplete() {
        Pane sent = Panes.of(3, 8);
        Panes.take(sent, TILE);
        Pane read = Panes.of(3, 8);
        sent.send((what, rows, messages, bytes) -> {
            if (what == Pane.MOMENT) {
                read.take(what, messages, bytes);
            }
        });
        assertFalse(read.isComplete(), "its counts did not come");
    }

    @Test
    void partsHaveTheNumbersThatAreStored() {
        assertEquals(
                List.of(2, 3, 4, 5, 6, 7),
                Stream.of(
                                PaneParts.COUNTS,
                                PaneParts.SAMPLE,
                                PaneParts.TOTALS,
                                PaneParts.IDS,
                                PaneParts.NOTES,
                                PaneParts.WHOLE)
                        .map(kind -> (int) kind.number())
                        .toList());
    }

    @Test
    void aPartThatIsNotKnownHereIsRefused() {
        for (byte unknown : new byte[] {-1, 0, 100}) {
            assertThrows(
                    IllegalArgumentException.class, () -> Panes.of(3, 8).take(unknown, 0, new byte[8]), "" + unknown);
        }
    }

    @Test
    void progressArrivesAsItWasSentAlsoBeforeAnythingIsClosed() {
        for (long closedUpToMs : new long[] {1_700_000_000_000L, SiteClock.NEVER}) {
            PaneMessage.Progress sent =
                    new PaneMessage.Progress(3, 4, closedUpToMs, true, closedUpToMs, new RowsRead(20, 3, 4, 2, 5));
            assertEquals(sent, PaneMessage.decode(sent.encode(US), US));
            HostileBytes.check(sent.encode(US), bytes -> PaneMessage.decode(bytes, US));
        }
    }

    @Test
    void timesAndPartitionsThatWouldOverflowAreRefused() {
        assertRefused(Panes.tile(Long.MAX_VALUE, 10_000, TILE), "time");
        assertRefused(Panes.tile(Long.MIN_VALUE + 1, 10_000, TILE), "time");
        assertRefused(progress(0, 1, Long.MAX_VALUE, 0), "time");
        assertRefused(progress(0, 1, 0, Long.MAX_VALUE), "time");
        assertRefused(progress(4, 4, 0, 0), "partition 4 of 4");
        assertRefused(progress(-1, 4, 0, 0), "partition -1");
        assertRefused(progress(0, Integer.MAX_VALUE, 0, 0), "partition 0 of");
        assertRefused(
                new PaneMessage.OfPane(Integer.MAX_VALUE, 0, 10_000, Pane.MOMENT, 1, 1, new byte[0]),
                "partition 2147483647");
    }

    private static PaneMessage progress(int partition, int partitions, long closedUpToMs, long eventTimeMs) {
        return new PaneMessage.Progress(partition, partitions, closedUpToMs, false, eventTimeMs, RowsRead.NONE);
    }

    @Test
    void messagesOfAnotherApplicationAreRefused() {
        byte[] theirs = Panes.tile(0, 10_000, TILE).encode(PaneMessage.application("plumbline-2"));
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> PaneMessage.decode(theirs, US));
        assertTrue(refusal.getMessage().contains("another application"), refusal.getMessage());
    }

    @Test
    void moreRowsOpenOrLateThanWereReadAreRefused() {
        assertEquals(6, new RowsRead(20, 3, 4, 2, 5).sent());
        for (RowsMaker impossible : List.<RowsMaker>of(
                () -> new RowsRead(-1, 0, 0, 0, 0),
                () -> new RowsRead(9, 10, 0, 0, 0),
                () -> new RowsRead(9, 5, 5, 0, 0),
                () -> new RowsRead(9, 3, 2, 1, 4),
                () -> new RowsRead(9, Long.MAX_VALUE, Long.MAX_VALUE, 3, 0),
                () -> new RowsRead(9, 0, 0, 0, -1))) {
            assertThrows(IllegalArgumentException.class, impossible::make);
        }
    }

    private interface RowsMaker {
        RowsRead make();
    }

    private static void assertRefused(PaneMessage message, String word) {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> PaneMessage.decode(message.encode(US), US));
        assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    }

    @Test
    void keysOfStoresComeBackAsTheyWere() {
        Bytes pane = PaneKeys.pane("Schicht ä", -5, Pane.MOMENT, 3);
        assertEquals(new PaneKeys(PaneKeys.PANE, "Schicht ä", -5, Pane.MOMENT, 3), PaneKeys.decode(pane));
        Bytes site = PaneKeys.site("layer.2");
        assertEquals(new PaneKeys(PaneKeys.SITE, "layer.2", 0, (byte) 0, 0), PaneKeys.decode(site));
        HostileBytes.check(pane.get(), bytes -> PaneKeys.decode(Bytes.wrap(bytes)));
        HostileBytes.check(site.get(), bytes -> PaneKeys.decode(Bytes.wrap(bytes)));
    }

    @Test
    void aKeyWithAHostileNameLengthIsRefusedBeforeItIsAllocated() {
        byte[] key = PaneKeys.site("layer.2").get();
        ByteBuffer.wrap(key).putInt(2, Integer.MAX_VALUE);
        assertThrows(IllegalStateException.class, () -> PaneKeys.decode(Bytes.wrap(key)));
        ByteBuffer.wrap(key).putInt(2, -1);
        assertThrows(IllegalStateException.class, () -> PaneKeys.decode(Bytes.wrap(key)));
    }

    @Test
    void aClockRemembersTimeClosingAndSilence() {
        SiteClock clock = new SiteClock();
        clock.advanceTo(25_000);
        clock.closeUpTo(20_000);
        clock.silent(true);
        clock.countRead(30);
        clock.countLate(5, LateReason.AFTER_GRACE);
        clock.countLate(6, LateReason.AFTER_IDLE);
        clock.countLate(2, LateReason.NOT_CONFIGURED);
        byte[] bytes = SiteClock.CODEC.encode(clock);
        SiteClock read = SiteClock.CODEC.decode(bytes);
        assertEquals(25_000, read.eventTimeMs());
        assertEquals(20_000, read.closedUpToMs());
        assertTrue(read.silent());
        assertEquals(new RowsRead(30, 5, 6, 2, 7), read.rows(7));
        assertTrue(read.isClosed(20_000) && !read.isClosed(20_001));
        assertTrue(!read.advanceTo(25_000) && read.advanceTo(25_001));
        HostileBytes.check(bytes, SiteClock.CODEC::decode);
    }

    @Test
    void theIdleTimeStartsAnewAfterARestart() {
        SiteClock clock = new SiteClock();
        clock.sawRecordAt(1_000);
        assertEquals(500, clock.idleMs(1_500, Long.MIN_VALUE, 1_500));
        assertEquals(400, clock.idleMs(1_500, 1_100, 1_500), "reachable since 1,100");
        assertEquals(200, clock.idleMs(1_500, Long.MIN_VALUE, 1_200), "something lay unread after 1,200");
        SiteClock restarted = SiteClock.CODEC.decode(SiteClock.CODEC.encode(clock));
        assertEquals(0, restarted.idleMs(90_000, Long.MIN_VALUE, 90_000));
        assertEquals(2_000, restarted.idleMs(92_000, Long.MIN_VALUE, 92_000));
    }

    @Test
    void progressOfASiteComesBackAsItWas() {
        SiteProgress progress = new SiteProgress();
        progress.update(spoke(0, 20_000, false), 0);
        progress.update(spoke(2, 30_000, true), 0);
        progress.closeWindowsUpTo(10_000);
        progress.countLate(3, LateReason.WINDOW_CLOSED);
        progress.countInWindows(10, new MaskedRows(4, 1));
        progress.arrived(0, 2);
        byte[] bytes = SiteProgress.CODEC.encode(progress);
        SiteProgress read = SiteProgress.CODEC.decode(bytes);
        assertEquals(10_000, read.windowsClosedUpToMs());
        assertEquals(SiteProgress.NEVER, read.frontierMs(), "partition 1 was not heard");
        assertEquals(progress.account(1), read.account(1));
        read.update(spoke(1, 40_000, false), 0);
        assertEquals(20_000, read.frontierMs());
        HostileBytes.check(bytes, SiteProgress.CODEC::decode);
    }

    @Test
    void countsThatNoPaneHasAreRefused() {
        for (long impossible : new long[] {-1, 1L << 41}) {
            assertRefused(new PaneMessage.OfPane(3, 20_000, 10_000, Pane.MOMENT, impossible, 1, new byte[0]), "counts");
            assertRefused(new PaneMessage.OfPane(3, 20_000, 10_000, Pane.MOMENT, 1, impossible, new byte[0]), "counts");
            byte[] counts = ByteBuffer.allocate(56).putLong(16, impossible).array();
            assertThrows(IllegalArgumentException.class, () -> new CountsPart().take(counts));
        }
        HostileBytes.mutate(new CountsPart().encode().get(0), new CountsPart()::take);
    }

    private static PaneMessage.Progress spoke(int partition, long closedUpToMs, boolean silent) {
        return new PaneMessage.Progress(
                partition, 3, closedUpToMs, silent, closedUpToMs + 1, new RowsRead(40 + partition, 1, 2, 0, 3));
    }
}
