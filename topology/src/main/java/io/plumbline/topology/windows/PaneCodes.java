package io.plumbline.topology.windows;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.SampledCodes;
import io.plumbline.moments.RowCodes;
import io.plumbline.moments.SampledRow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the sampled rows of one task's open panes encoded beside the stream, and gives them their codes when they are there.
 *
 * <p>Most rows that enter a sample are replaced before their pane closes: of k places, the n-th second of a pane replaces one in
 * n. Encoding all that enter would be {@code k (1 + ln n)} rows, of which k stay. So when a share s of the pane's event time is
 * over, only the {@code s k} rows of smallest hash are encoded: at an even rate those are the ones that stay, and about k rows are
 * encoded in all. Of a window of p panes each pane gives one row in p, so that only twice that share of a pane is encoded.
 *
 * <p>Nothing of this is state and nothing waits for it: rows whose codes are not there when the pane leaves go without, and so do
 * those of a pane that is restored, until they are encoded again.
 *
 * <p>Not thread-safe; belongs to the stream thread.
 */
final class PaneCodes {

    private static final Logger LOG = LoggerFactory.getLogger(PaneCodes.class);

    /** Rows that are encoded together: as many as an encoder works on at a time. */
    static final int BATCH = 64;

    /** Panes of a window are not equally full. */
    private static final double TIMES_THE_SHARE = 2.0;

    private final EarlyEncoding encoding;
    private final double shareOfPane;
    private final WindowListener listener;
    private final IdentityHashMap<Pane, Asked> panes = new IdentityHashMap<>();
    private boolean warned;

    PaneCodes(EarlyEncoding encoding, WindowSettings settings, WindowListener listener) {
        this.encoding = encoding;
        this.shareOfPane = Math.min(1.0, TIMES_THE_SHARE * settings.paneMs() / settings.sizeMs());
        this.listener = listener;
    }

    /** What was asked for of a pane: rows by hash, and batches that were not looked at. */
    private static final class Asked {
        private final Set<Long> rows = new HashSet<>();
        private final Deque<Batch> batches = new ArrayDeque<>();
        private long rowsRead = -1;
    }

    private record Batch(List<SampledRow> rows, FutureTask<List<@Nullable RowCodes>> work) {}

    boolean wants(String site) {
        return encoding.encoders().containsKey(site);
    }

    /**
     * Gives a pane the codes that are done, and asks for those of further rows.
     *
     * @param elapsed the share of the pane's event time that is over
     */
    void look(String site, Pane pane, double elapsed) {
        Encoder encoder = encoding.encoders().get(site);
        if (encoder == null) {
            return;
        }
        Asked asked = panes.computeIfAbsent(pane, newOne -> new Asked());
        attach(pane, asked);
        boolean quiet = asked.rowsRead == pane.rowsRead();
        asked.rowsRead = pane.rowsRead();
        boolean rest = quiet || elapsed >= 1.0;
        List<SampledRow> rows = wanted(pane, asked, rest ? 1.0 : Math.max(0.0, elapsed));
        for (int from = 0; from < rows.size(); from += BATCH) {
            int to = Math.min(from + BATCH, rows.size());
            if ((to - from < BATCH && !rest) || !ask(site, encoder, List.copyOf(rows.subList(from, to)), asked)) {
                break;
            }
        }
        attach(pane, asked);
    }

    /** Gives a pane that leaves the codes that are done; the others are not waited for. */
    void leave(Pane pane) {
        Asked asked = panes.remove(pane);
        if (asked != null) {
            attach(pane, asked);
            forget(asked);
        }
    }

    /** The task ends; what was not begun is not done any more. */
    void drop() {
        panes.values().forEach(PaneCodes::forget);
        panes.clear();
    }

    /** The rows likely to stay that have no codes and were not asked for, smallest hash first. */
    private List<SampledRow> wanted(Pane pane, Asked asked, double elapsed) {
        int most = (int) Math.ceil(pane.sample().capacity() * elapsed * shareOfPane);
        List<SampledRow> sampled = pane.sample().rows();
        List<SampledRow> rows = new ArrayList<>();
        for (SampledRow row : sampled.subList(0, Math.min(most, sampled.size()))) {
            if (row.codes() == null && !asked.rows.contains(row.hash())) {
                rows.add(row);
            }
        }
        return rows;
    }

    /** Whether there was room for the batch. */
    private boolean ask(String site, Encoder encoder, List<SampledRow> rows, Asked asked) {
        FutureTask<List<@Nullable RowCodes>> work = new FutureTask<>(() -> {
            long begin = System.nanoTime();
            List<@Nullable RowCodes> codes = SampledCodes.ahead(encoder, rows);
            listener.onEncoded(site, rows.size(), System.nanoTime() - begin);
            return codes;
        });
        try {
            encoding.executor().execute(work);
        } catch (RejectedExecutionException full) {
            return false;
        }
        rows.forEach(row -> asked.rows.add(row.hash()));
        asked.batches.add(new Batch(rows, work));
        return true;
    }

    private void attach(Pane pane, Asked asked) {
        while (!asked.batches.isEmpty() && asked.batches.peek().work().isDone()) {
            Batch batch = asked.batches.remove();
            List<@Nullable RowCodes> codes = result(batch);
            for (int i = 0; i < codes.size(); i++) {
                RowCodes ofRow = codes.get(i);
                if (ofRow != null) {
                    pane.sample().attach(batch.rows().get(i).hash(), ofRow);
                }
            }
        }
    }

    /** None where it failed: the rows go without, and the adapter will say what is wrong with them. */
    private List<@Nullable RowCodes> result(Batch batch) {
        try {
            return batch.work().get();
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            if (!warned) {
                warned = true;
                LOG.warn(
                        "{} sampled rows could not be encoded before their window closed: {}; they are encoded when an adaptation needs them. Said once",
                        batch.rows().size(),
                        e.getCause(),
                        e.getCause());
            }
            return List.of();
        }
    }

    private static void forget(Asked asked) {
        asked.batches.forEach(batch -> batch.work().cancel(false));
    }
}
