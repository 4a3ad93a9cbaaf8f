package io.plumbline.topology.windows;

import io.plumbline.moments.RowSample;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.fuzz.FuzzTarget;
import io.plumbline.topology.fuzz.Part;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneKeys;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.RowsRead;
import io.plumbline.topology.panes.SiteClock;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;

/** Reads what this stage reads of others: the moments topic and the state stores. */
public final class WindowTargets {

    private static final long US = PaneMessage.application("plumbline");
    private static final int DIMENSION = 3;
    private static final int CAPACITY = 8;

    /** The most bytes that progress allocates: it names the number of partitions, and a small object each is kept. */
    private static final long LARGEST_PROGRESS = 192 * 1024 + 160L * PaneMessage.LARGEST_PARTITIONS;

    private WindowTargets() {}

    public static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of("pane message", Part.BYTES, messages(), 32, WindowTargets::takeMessage)
                        .weighing(8)
                        .allowing(LARGEST_PROGRESS),
                FuzzTarget.of("site clock", Part.BYTES, List.of(clock()), 8, SiteClock.CODEC::decode),
                FuzzTarget.of("site progress", Part.BYTES, List.of(progress()), 16, WindowTargets::takeProgress),
                FuzzTarget.of(
                        "pane key",
                        Part.BYTES,
                        List.of(
                                PaneKeys.site("Schicht ä").get(),
                                PaneKeys.pane("layer.2", -5, Pane.MOMENT, 3).get()),
                        16,
                        bytes -> PaneKeys.decode(Bytes.wrap(bytes))));
    }

    /** Decodes a message and does with it what the composer does. */
    private static void takeMessage(byte[] bytes) {
        PaneMessage message = PaneMessage.decode(bytes, US);
        if (message instanceof PaneMessage.OfPane ofPane) {
            Pane pane = Panes.of(DIMENSION, CAPACITY);
            pane.take(ofPane.what(), ofPane.messages(), ofPane.bytes());
            pane.isComplete();
        } else if (message instanceof PaneMessage.Progress progress) {
            SiteProgress site = new SiteProgress();
            site.update(progress, 0);
            site.frontierMs();
        }
    }

    private static void takeProgress(byte[] bytes) {
        SiteProgress progress = SiteProgress.CODEC.decode(bytes);
        progress.frontierMs();
        SiteProgress.CODEC.encode(progress);
    }

    private static List<byte[]> messages() {
        List<byte[]> messages = new ArrayList<>();
        for (MomentTile tile : MomentTile.cut(DIMENSION, 7, new double[] {1, 2, 3, 4, 5, 6, 7, 8, 9})) {
            messages.add(Panes.tile(1_700_000_000_000L, 10_000, tile).encode(US));
        }
        RowSample sample = RowSample.ofCapacity(CAPACITY);
        for (int row = 0; row < 4; row++) {
            sample.offer(RowSample.hash(7, row), 1, 3, new float[] {row, 1, 2}, null);
        }
        Panes.parts(-10_000, 10_000, PaneParts.SAMPLE, sample.encode(1_000))
                .forEach(message -> messages.add(message.encode(US)));
        RequestTotals totals = RequestTotals.ofCapacity(new RequestProjection.Id(7, 2), CAPACITY);
        for (long request = 0; request < 12; request++) {
            totals.add(request, "Anfrage ü " + request, 3, new double[] {request, 1});
        }
        Panes.parts(-10_000, 10_000, PaneParts.TOTALS, totals.encode(300))
                .forEach(message -> messages.add(message.encode(US)));
        Panes.counted(-10_000, 10_000, 5).forEach(message -> messages.add(message.encode(US)));
        messages.add(spoke(3, 4, 1_700_000_000_000L, false).encode(US));
        messages.add(spoke(0, 4, SiteClock.NEVER, true).encode(US));
        return messages;
    }

    private static PaneMessage.Progress spoke(int partition, int partitions, long closedUpToMs, boolean silent) {
        return new PaneMessage.Progress(
                partition, partitions, closedUpToMs, silent, closedUpToMs, new RowsRead(20, 3, 4, 2, 5));
    }

    private static byte[] clock() {
        SiteClock clock = new SiteClock();
        clock.advanceTo(25_000);
        clock.closeUpTo(20_000);
        return SiteClock.CODEC.encode(clock);
    }

    private static byte[] progress() {
        SiteProgress progress = new SiteProgress();
        progress.update(spoke(0, 3, 20_000, false), 0);
        progress.update(spoke(2, 3, 30_000, true), 0);
        progress.closeWindowsUpTo(10_000);
        return SiteProgress.CODEC.encode(progress);
    }
}
