package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.MomentTile;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.windows.Panes;
import io.plumbline.topology.windows.StoredPanes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PaneStoreTest extends StoredPanes {

    @Test
    void whatWasWrittenIsReadBackAndWhatWasRemovedIsNot() {
        Matrix rows = write();
        PaneStore<SiteClock> restored = store(WIDTH);
        restored.reset(Map.of());
        Pane pane = restored.panes(SITE).get(0L);
        assertEquals(SecondMoment.of(rows).matrix(), pane.moment().snapshot().matrix());
        assertEquals(rows.rows(), pane.rows());
        assertEquals(1, pane.counted().requests());
        assertEquals(rows.rows(), Panes.sample(pane).size());
        assertTrue(pane.isComplete());

        restored.remove(SITE, 0);
        PaneStore<SiteClock> afterwards = store(WIDTH);
        afterwards.reset(Map.of());
        assertTrue(afterwards.panes(SITE).isEmpty());
    }

    @Test
    void itsSizeIsThatOfTheMomentsAndSampledRowsOfThePanesThatAreOpen() {
        PaneStore<SiteClock> store = store(WIDTH);
        assertEquals(StateSize.NOTHING, store.size());
        Matrix rows = write();
        store.reset(Map.of());
        long moment = 4L * WIDTH * (WIDTH + 3);
        long request = 8L * PROJECTION.components() + RequestTotals.ENTRY_OVERHEAD;
        assertEquals(new StateSize(1, moment + 4L * rows.rows() * WIDTH + request), store.size());
        var unused = store.paneToChange(SITE, PANE_MS);
        assertEquals(new StateSize(2, 2 * moment + 4L * rows.rows() * WIDTH + request), store.size());
        store.remove(SITE, 0);
        assertEquals(new StateSize(1, moment), store.size());
    }

    @Test
    void openPanesOfAnotherDimensionAreRefused() {
        write();
        String message = assertThrows(
                        IllegalStateException.class, () -> store(WIDTH + 1).reset(Map.of()))
                .getMessage();
        assertTrue(message.contains("have 5 dimensions") && message.contains("writes 6"), message);
    }

    @Test
    void aCommitWritesTheTilesThatChangedAndTheRowsThatCame() {
        int width = 600; // 3 tiles
        PaneStore<SiteClock> store = store(width);
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(width);
        moment.add(ActivationRecords.integerRows(1, 4, width));
        Pane pane = store.paneToChange(SITE, 0);
        for (MomentTile tile : MomentTile.cut(width, 4, moment.state())) {
            Panes.take(pane, tile);
        }
        store.writeDirty();
        List<Integer> before =
                storedParts(Pane.MOMENT).values().stream().map(Arrays::hashCode).toList();
        Panes.take(store.paneToChange(SITE, 0), MomentTile.cut(width, 4, moment.state(), 1));
        store.writeDirty();
        List<Integer> after =
                storedParts(Pane.MOMENT).values().stream().map(Arrays::hashCode).toList();
        assertEquals(3, after.size());
        assertEquals(before.get(0), after.get(0));
        assertNotEquals(before.get(1), after.get(1));
        PaneStore<SiteClock> restored = store(width);
        restored.reset(Map.of());
        assertFalse(restored.panes(SITE).get(0L).isComplete(), "tile 1 counts 8 rows, the others 4");
    }

    /**
     * Tests 24 commits of 40 rows each, for a sample of 16: what is stored merges to what is live, and stays small.
     */
    @Test
    void aSampleIsAppendedToAndWrittenAnewBeforeItIsMostlyHistory() {
        PaneStore<SiteClock> store = store(WIDTH);
        int mostRows = 0;
        for (int commit = 0; commit < 24; commit++) {
            Matrix rows = ActivationRecords.integerRows(commit, 40, WIDTH);
            store.paneToChange(SITE, 0)
                    .add(Panes.rows(SITE, commit, ActivationRecords.undecoded(rows), commit), commit);
            store.writeDirty();
            int stored = storedParts(PaneParts.SAMPLE).values().stream()
                    .mapToInt(part -> (part.length - 17) / (16 + 4 * WIDTH))
                    .sum();
            mostRows = Math.max(mostRows, stored);
            PaneStore<SiteClock> restored = store(WIDTH);
            restored.reset(Map.of());
            assertArrayEquals(
                    Panes.sample(store.panes(SITE).get(0L)).hashes(),
                    Panes.sample(restored.panes(SITE).get(0L)).hashes(),
                    "commit " + commit);
        }
        assertTrue(mostRows > 20 && mostRows <= 3 * CAPACITY, mostRows + " rows stored at most");
        store.remove(SITE, 0);
        assertEquals(0, inner.approximateNumEntries(), "nothing is left of a removed pane");
    }

    /** A restored pane goes on where the other instance stopped, and neither forgets nor repeats stored rows. */
    @Test
    void aRestoredPaneAppendsToWhatIsStored() {
        PaneStore<SiteClock> first = store(WIDTH);
        PaneStore<SiteClock> second = store(WIDTH);
        RowSample truth = RowSample.ofCapacity(CAPACITY);
        for (int commit = 0; commit < 10; commit++) {
            Matrix rows = ActivationRecords.integerRows(commit, 6, WIDTH);
            PaneStore<SiteClock> owner = commit % 2 == 0 ? first : second;
            owner.reset(Map.of());
            owner.paneToChange(SITE, 0)
                    .add(Panes.rows(SITE, commit, ActivationRecords.undecoded(rows), commit), commit);
            owner.writeDirty();
            for (int row = 0; row < rows.rows(); row++) {
                truth.offer(RowSample.hash(commit, row), commit, commit, new float[WIDTH], null);
            }
        }
        first.reset(Map.of());
        assertArrayEquals(
                truth.hashes(), Panes.sample(first.panes(SITE).get(0L)).hashes());
        assertEquals(60, first.panes(SITE).get(0L).rows());
    }

    @Test
    void panesOfASiteThatIsNotConfiguredOutliveARollingRestartAndNotMuchMore() {
        write();
        PaneStore<SiteClock> other =
                new PaneStore<>(inner, SiteClock.CODEC, Map.of("new", WIDTH), CAPACITY, RequestTotalling.NONE);
        other.reset(Map.of());
        other.forgetUnknown();
        PaneStore<SiteClock> back = store(WIDTH);
        back.reset(Map.of());
        assertEquals(4, back.panes(SITE).get(0L).rows(), "the first look only notes them");
        other.forgetUnknown();
        assertTrue(other.panes(SITE).isEmpty());
        back.reset(Map.of());
        assertTrue(back.panes(SITE).isEmpty());
        back.forgetUnknown();
        back.forgetUnknown();
        assertEquals(0, inner.approximateNumEntries());
    }

    @Test
    void aSiteThatIsNotConfiguredCannotAskForMoreThanTheWidestThatIs() {
        PaneStore<SiteClock> store = store(WIDTH);
        assertEquals(0, store.paneToChange("new", tile(WIDTH)).rows());
        assertThrows(IllegalArgumentException.class, () -> store.paneToChange("wide", tile(WIDTH + 1)));
    }

    private static PaneMessage.OfPane tile(int width) {
        double[] state = SecondMomentAccumulator.ofDimension(width).state();
        return Panes.tile(0, PANE_MS, MomentTile.cut(width, 4, state, 0));
    }

    private static Ingested masked(int number, @Nullable ActivationBlob rows, MaskedRows masked) {
        return new Ingested.Rows(
                SITE,
                null,
                ProducerNotes.NONE,
                number,
                new Ingested.Request(number, null),
                new RowMask.Kept<>(rows, masked),
                null);
    }

    @Test
    void maskedRowsComeBackWithTheirPane() {
        PaneStore<SiteClock> store = store(WIDTH);
        store.paneToChange(SITE, 0).add(masked(1, null, new MaskedRows(2, 0)), 0);
        ActivationBlob batch = ActivationRecords.undecoded(ActivationRecords.integerRows(1, 4, WIDTH));
        store.paneToChange(SITE, 0).add(masked(2, batch, new MaskedRows(3, 1)), 0);
        store.writeDirty();
        PaneStore<SiteClock> restored = store(WIDTH);
        restored.reset(Map.of());
        assertEquals(
                new MaskedRows(5, 1), restored.panes(SITE).get(0L).counted().masked());
        assertEquals(4, restored.panes(SITE).get(0L).rows());
        assertEquals(10, restored.panes(SITE).get(0L).rowsRead());
        assertEquals(
                1, restored.panes(SITE).get(0L).counted().requests(), "a record of masked rows alone adds nothing");
    }

    @Test
    void countsOfAnotherLengthAreRefused() {
        write();
        Bytes counts = PaneKeys.pane(SITE, 0, PaneParts.COUNTS.number(), 0);
        inner.put(counts, Arrays.copyOf(inner.get(counts), 32));
        String message = assertThrows(
                        IllegalStateException.class, () -> store(WIDTH).reset(Map.of()))
                .getMessage();
        assertTrue(message.contains("reset the application's state"), message);
    }

    private Matrix write() {
        Matrix rows = ActivationRecords.integerRows(1, 4, WIDTH);
        PaneStore<SiteClock> store = store(WIDTH);
        store.paneToChange(SITE, 0).add(Panes.rows(SITE, 1, ActivationRecords.undecoded(rows), 7), 0);
        store.writeDirty();
        return rows;
    }
}
