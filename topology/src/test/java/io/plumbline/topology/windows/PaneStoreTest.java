package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.wire.ActivationBatch;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;

class PaneStoreTest {

    private static final String SITE = "blocks.7";
    private static final int WIDTH = 5;
    private static final long PANE_MS = 10_000;

    private final KeyValueStore<Bytes, byte[]> inner =
            Stores.inMemoryKeyValueStore("panes").get();

    @Test
    void whatWasWrittenIsReadBackAndWhatWasRemovedIsNot() {
        Matrix rows = write();
        PaneStore<SiteClock> restored = store(WIDTH, PANE_MS);
        restored.reset();
        Pane pane = restored.panes(SITE).get(0L);
        assertEquals(SecondMoment.of(rows).matrix(), pane.moment().snapshot().matrix());
        assertEquals(rows.rows(), pane.rows());
        assertEquals(1, pane.requests());
        assertEquals(rows.rows(), pane.sample().size());
        assertTrue(pane.isComplete());

        restored.remove(SITE, 0);
        PaneStore<SiteClock> afterwards = store(WIDTH, PANE_MS);
        afterwards.reset();
        assertTrue(afterwards.panes(SITE).isEmpty());
    }

    @Test
    void openPanesOfAnotherLengthAreRefused() {
        write();
        String message = assertThrows(IllegalStateException.class, () -> store(WIDTH, PANE_MS / 2)
                        .reset())
                .getMessage();
        assertTrue(message.contains("10000 ms") && message.contains("5000 ms"), message);
    }

    @Test
    void openPanesOfAnotherDimensionAreRefused() {
        write();
        String message = assertThrows(IllegalStateException.class, () -> store(WIDTH + 1, PANE_MS)
                        .reset())
                .getMessage();
        assertTrue(message.contains("have 5 dimensions") && message.contains("writes 6"), message);
    }

    private Matrix write() {
        Matrix rows = ActivationRecords.integerRows(1, 4, WIDTH);
        PaneStore<SiteClock> store = store(WIDTH, PANE_MS);
        store.paneToChange(SITE, 0)
                .add(new Ingested(SITE, 1, new ActivationBatch(rows, null, null), "activations", 0, 0));
        store.writeDirty();
        return rows;
    }

    private PaneStore<SiteClock> store(int dimension, long paneMs) {
        return new PaneStore<>(inner, SiteClock.CODEC, Map.of(SITE, dimension), paneMs, 16);
    }
}
