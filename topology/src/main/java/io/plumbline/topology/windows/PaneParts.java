package io.plumbline.topology.windows;

import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts the parts of one pane's row sample, of its request totals, of its whole requests, of its record ids and of its
 * notes in the inner store, so that more are appended and all are deleted.
 */
final class PaneParts {

    private final KeyValueStore<Bytes, byte[]> inner;
    private final String site;
    private final long startMs;
    private int samples;
    private int totals;
    private int ids;
    private int notes;
    private int whole;

    PaneParts(KeyValueStore<Bytes, byte[]> inner, String site, long startMs) {
        this.inner = inner;
        this.site = site;
        this.startMs = startMs;
    }

    /** Notes that a part of this index was found. */
    void found(byte kind, int index) {
        if (kind == PaneKeys.SAMPLE) {
            samples = Math.max(samples, index + 1);
        } else if (kind == PaneKeys.TOTALS) {
            totals = Math.max(totals, index + 1);
        } else if (kind == PaneKeys.IDS) {
            ids = Math.max(ids, index + 1);
        } else if (kind == PaneKeys.WHOLE) {
            whole = Math.max(whole, index + 1);
        } else {
            notes = Math.max(notes, index + 1);
        }
    }

    /** Appends what is new, or starts over where most of what is stored is history. */
    void write(Pane pane) {
        boolean anew = pane.sampleIsScattered();
        if (anew) {
            pane.rewriteSample();
        }
        samples = write(PaneKeys.SAMPLE, samples, anew, pane.newSampleParts());
        PaneRequests.Stored requests = pane.requestTotals().store();
        totals = write(PaneKeys.TOTALS, totals, requests.anew(), requests.parts());
        PaneNotes.Stored said = pane.notes().store();
        notes = write(PaneKeys.NOTES, notes, said.anew(), said.parts());
        PaneWhole.Stored kept = pane.whole().store();
        whole = write(PaneKeys.WHOLE, whole, kept.anew(), kept.parts());
        int part = pane.ids().firstChangedPart();
        for (byte[] some : pane.ids().store()) {
            inner.put(PaneKeys.pane(site, startMs, PaneKeys.IDS, part++), some);
            ids = Math.max(ids, part);
        }
    }

    /** Returns how many there are now. */
    private int write(byte kind, int before, boolean anew, List<byte[]> parts) {
        int next = anew ? 0 : before;
        for (byte[] part : parts) {
            inner.put(PaneKeys.pane(site, startMs, kind, next++), part);
        }
        delete(kind, next, before);
        return next;
    }

    void delete() {
        delete(PaneKeys.SAMPLE, 0, samples);
        delete(PaneKeys.TOTALS, 0, totals);
        delete(PaneKeys.IDS, 0, ids);
        delete(PaneKeys.NOTES, 0, notes);
        delete(PaneKeys.WHOLE, 0, whole);
    }

    private void delete(byte kind, int from, int to) {
        for (int part = from; part < to; part++) {
            inner.delete(PaneKeys.pane(site, startMs, kind, part));
        }
    }
}
