package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.explainer.WatchedEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.ingest.Ingested;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How many rows are encoded early, and which. */
class PaneCodesTest {

    private static final String SITE = "blocks.7";
    private static final int WIDTH = 5;
    private static final int CAPACITY = 512;
    private static final int LOOKS = 60;
    private static final int ROWS_PER_LOOK = 512;
    private static final Encoder ENCODER =
            TopKEncoder.of(ActivationRecords.integerRows(1, 20, WIDTH), new double[20], 3);

    private final Counter encoded = new Counter();
    private long number;

    /** Encoding whatever is in the sample at each look would be 512 (1 + ln 60) = 2,600 rows. */
    @Test
    void littleMoreThanTheRowsThatStayAreEncoded() {
        Pane pane = new Pane(WIDTH, CAPACITY);
        PaneCodes codes = codes(Runnable::run, 60);
        fill(pane, codes);
        assertEquals(0, without(pane), "rows left to encode");
        assertTrue(encoded.rows <= 1.15 * CAPACITY, encoded.rows + " rows encoded for " + CAPACITY);
    }

    /** Of twelve panes each gives a twelfth of the window's rows: those of smallest hash. */
    @Test
    void ofAPaneOfAHoppingWindowTwiceItsShareIsEncoded() {
        Pane pane = new Pane(WIDTH, CAPACITY);
        PaneCodes codes = codes(Runnable::run, 5);
        fill(pane, codes);
        int share = CAPACITY / 6;
        assertTrue(pane.sample().rows().subList(0, share).stream().allMatch(row -> row.codes() != null));
        assertTrue(encoded.rows <= 1.3 * share, encoded.rows + " rows encoded for " + share);
    }

    /** A site that fell silent gets nothing replaced any more; its windows close after the idle timeout. */
    @Test
    void aPaneThatNothingIsAddedToIsEncodedWhole() {
        Pane pane = new Pane(WIDTH, CAPACITY);
        PaneCodes codes = codes(Runnable::run, 60);
        add(pane, 700);
        codes.look(SITE, pane, 0.1);
        assertEquals(0, encoded.rows, "51 rows are fewer than a batch");
        codes.look(SITE, pane, 0.1);
        assertEquals(0, without(pane));
    }

    @Test
    void whatIsNotDoneWhenThePaneLeavesIsNotWaitedForNorBegun() {
        Pane pane = new Pane(WIDTH, CAPACITY);
        Deque<Runnable> waiting = new ArrayDeque<>();
        PaneCodes codes = codes(waiting::add, 60);
        add(pane, 200);
        codes.look(SITE, pane, 1.0);
        assertEquals(4, waiting.size(), "64, 64, 64 and 8 rows");
        waiting.remove().run();
        codes.look(SITE, pane, 1.0);
        assertEquals(3, waiting.size(), "no row is asked for twice");
        assertEquals(200 - 64, without(pane));
        waiting.remove().run();
        codes.leave(pane);
        assertEquals(200 - 128, without(pane));
        waiting.forEach(Runnable::run);
        assertEquals(128, encoded.rows);
        Pane dropped = new Pane(WIDTH, CAPACITY);
        add(dropped, 64);
        codes.look(SITE, dropped, 1.0);
        codes.drop();
        waiting.forEach(Runnable::run);
        assertEquals(128, encoded.rows);
        codes.look(SITE, dropped, 1.0);
        waiting.forEach(Runnable::run);
        codes.leave(dropped);
        assertEquals(0, without(dropped), "a task that goes on asks again for what it dropped");
    }

    /** A stream thread that waited for the encoder would read nothing meanwhile. */
    @Test
    void theStreamDoesNotWaitForAnEncoderThatIsBehind() throws InterruptedException {
        CountDownLatch released = new CountDownLatch(1);
        Encoder slow = new WatchedEncoder(ENCODER, rows -> await(released));
        PaneCodes codes =
                new PaneCodes(new EarlyEncoding(Map.of(SITE, slow), EarlyEncoding.background()), settings(60), encoded);
        List<Pane> panes = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            Pane pane = new Pane(WIDTH, CAPACITY);
            add(pane, CAPACITY);
            panes.add(pane);
            codes.look(SITE, pane, 1.0);
        }
        assertEquals(
                12 * CAPACITY, panes.stream().mapToLong(PaneCodesTest::without).sum(), "96 batches, of which 65 fit");
        released.countDown();
        BrokerClient.awaitThat(
                () -> {
                    panes.forEach(pane -> codes.look(SITE, pane, 1.0));
                    return panes.stream().allMatch(pane -> without(pane) == 0);
                },
                () -> encoded.rows + " rows encoded");
        assertEquals(12 * CAPACITY, encoded.rows);
    }

    @Test
    void aBoundedNumberOfBatchesWaitsForOneThreadThatKeepsNoProcess() throws InterruptedException {
        Executor background = EarlyEncoding.background();
        CountDownLatch released = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        List<Boolean> daemon = new CopyOnWriteArrayList<>();
        background.execute(() -> {
            daemon.add(Thread.currentThread().isDaemon());
            await(released);
            ended.countDown();
        });
        for (int waiting = 0; waiting < 64; waiting++) {
            background.execute(() -> {});
        }
        assertThrows(RejectedExecutionException.class, () -> background.execute(() -> {}));
        released.countDown();
        assertTrue(ended.await(60, TimeUnit.SECONDS));
        assertEquals(List.of(true), daemon);
    }

    /** As when there is no memory left: what the process does then is not decided here. */
    @Test
    void anErrorIsNotHidden() {
        Encoder broken = new WatchedEncoder(ENCODER, rows -> {
            throw new OutOfMemoryError("of this test");
        });
        PaneCodes codes = new PaneCodes(new EarlyEncoding(Map.of(SITE, broken), Runnable::run), settings(60), encoded);
        Pane pane = new Pane(WIDTH, CAPACITY);
        add(pane, 64);
        assertThrows(OutOfMemoryError.class, () -> codes.look(SITE, pane, 1.0));
    }

    @Test
    void aSiteThatIsEncodedAtTheTriggerIsLeftAlone() {
        Pane pane = new Pane(WIDTH, CAPACITY);
        add(pane, 200);
        codes(Runnable::run, 60).look("another", pane, 1.0);
        assertEquals(200, without(pane));
    }

    private void fill(Pane pane, PaneCodes codes) {
        for (int look = 1; look <= LOOKS; look++) {
            add(pane, ROWS_PER_LOOK);
            codes.look(SITE, pane, (double) look / LOOKS);
        }
        codes.leave(pane);
    }

    private void add(Pane pane, int rows) {
        Matrix values = ActivationRecords.integerRows(++number, rows, WIDTH);
        pane.add(new Ingested(SITE, number, ActivationRecords.undecoded(values), MaskedRows.NONE, 31 * number), number);
    }

    private static long without(Pane pane) {
        return pane.sample().rows().stream().filter(row -> row.codes() == null).count();
    }

    private PaneCodes codes(Executor executor, int advanceSeconds) {
        return new PaneCodes(new EarlyEncoding(Map.of(SITE, ENCODER), executor), settings(advanceSeconds), encoded);
    }

    private static WindowSettings settings(int advanceSeconds) {
        return new WindowSettings(
                Duration.ofSeconds(60), Duration.ofSeconds(advanceSeconds), Duration.ZERO, null, null);
    }

    private static void await(CountDownLatch released) {
        try {
            released.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Counter implements WindowListener {

        private volatile int rows;

        @Override
        public synchronized void onEncoded(String site, int count, long nanoseconds) {
            rows += count;
        }

        @Override
        public void onLate(String site, long count, LateReason reason) {}

        @Override
        public void onAccumulated(String site, int count, long nanoseconds) {}

        @Override
        public void onWindowClosed(String site, long count) {}
    }
}
