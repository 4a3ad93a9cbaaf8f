package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.HostileBytes;
import io.plumbline.wire.MomentTile;
import java.nio.ByteBuffer;
import org.apache.kafka.common.utils.Bytes;
import org.junit.jupiter.api.Test;

/** Round trips, and bytes of others: what level 1 sends and what the stores keep. */
class WindowCodecsTest {

    private static final MomentTile TILE =
            MomentTile.cut(3, 7, new double[] {1, 2, 3, 4, 5, 6, 7, 8, 9}).get(0);

    @Test
    void aTileArrivesAsItWasSent() {
        PaneMessage.Tile sent = new PaneMessage.Tile(2, 1_700_000_000_000L, 10_000, 5, TILE);
        PaneMessage.Tile read = assertInstanceOf(PaneMessage.Tile.class, PaneMessage.decode(sent.encode()));
        assertEquals(2, read.partition());
        assertEquals(1_700_000_000_000L, read.paneStartMs());
        assertEquals(5, read.requests());
        assertEquals(7, read.tile().rows());
        assertArrayEquals(TILE.values(), read.tile().values());
        HostileBytes.check(sent.encode(), PaneMessage::decode);
    }

    @Test
    void aSamplePartArrivesAsItWasSent() {
        PaneMessage.SamplePart sent = new PaneMessage.SamplePart(1, -10_000, 10_000, new byte[] {4, 5, 6});
        PaneMessage.SamplePart read = assertInstanceOf(PaneMessage.SamplePart.class, PaneMessage.decode(sent.encode()));
        assertEquals(1, read.partition());
        assertEquals(-10_000, read.paneStartMs());
        assertArrayEquals(new byte[] {4, 5, 6}, read.part());
        HostileBytes.mutate(sent.encode(), PaneMessage::decode);
    }

    @Test
    void progressArrivesAsItWasSentAlsoBeforeAnythingIsClosed() {
        for (long closedUpToMs : new long[] {1_700_000_000_000L, SiteClock.NEVER}) {
            PaneMessage.Progress sent = new PaneMessage.Progress(3, 4, closedUpToMs, true);
            assertEquals(sent, PaneMessage.decode(sent.encode()));
            HostileBytes.check(sent.encode(), PaneMessage::decode);
        }
    }

    @Test
    void timesAndPartitionsThatWouldOverflowAreRefused() {
        assertRefused(new PaneMessage.Tile(0, Long.MAX_VALUE, 10_000, 1, TILE), "time");
        assertRefused(new PaneMessage.SamplePart(0, Long.MIN_VALUE + 1, 10_000, new byte[0]), "time");
        assertRefused(new PaneMessage.Progress(0, 1, Long.MAX_VALUE, false), "time");
        assertRefused(new PaneMessage.Progress(4, 4, 0, false), "partition 4 of 4");
        assertRefused(new PaneMessage.Progress(-1, 4, 0, false), "partition -1 of 4");
        assertRefused(new PaneMessage.Progress(0, Integer.MAX_VALUE, 0, false), "partition 0 of");
    }

    private static void assertRefused(PaneMessage message, String word) {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> PaneMessage.decode(message.encode()));
        assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    }

    @Test
    void keysOfStoresComeBackAsTheyWere() {
        Bytes pane = PaneKeys.pane("Schicht ä", -5, PaneKeys.SAMPLE, 3);
        assertEquals(new PaneKeys(PaneKeys.PANE, "Schicht ä", -5, PaneKeys.SAMPLE, 3), PaneKeys.decode(pane));
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
        byte[] bytes = SiteClock.CODEC.encode(clock);
        SiteClock read = SiteClock.CODEC.decode(bytes);
        assertEquals(25_000, read.eventTimeMs());
        assertEquals(20_000, read.closedUpToMs());
        assertTrue(read.silent());
        assertTrue(read.isClosed(20_000) && !read.isClosed(20_001));
        assertTrue(!read.advanceTo(25_000) && read.advanceTo(25_001));
        HostileBytes.check(bytes, SiteClock.CODEC::decode);
    }

    @Test
    void theIdleTimeStartsAnewAfterARestart() {
        SiteClock clock = new SiteClock();
        clock.sawRecordAt(1_000);
        assertEquals(500, clock.idleMs(1_500));
        SiteClock restarted = SiteClock.CODEC.decode(SiteClock.CODEC.encode(clock));
        assertEquals(0, restarted.idleMs(90_000));
        assertEquals(2_000, restarted.idleMs(92_000));
    }

    @Test
    void progressOfASiteComesBackAsItWas() {
        SiteProgress progress = new SiteProgress();
        progress.update(new PaneMessage.Progress(0, 3, 20_000, false));
        progress.update(new PaneMessage.Progress(2, 3, 30_000, true));
        progress.closeWindowsUpTo(10_000);
        byte[] bytes = SiteProgress.CODEC.encode(progress);
        SiteProgress read = SiteProgress.CODEC.decode(bytes);
        assertEquals(10_000, read.windowsClosedUpToMs());
        assertEquals(SiteProgress.NEVER, read.frontierMs(), "partition 1 was not heard");
        read.update(new PaneMessage.Progress(1, 3, 40_000, false));
        assertEquals(20_000, read.frontierMs());
        HostileBytes.check(bytes, SiteProgress.CODEC::decode);
    }
}
