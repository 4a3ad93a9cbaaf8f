package io.plumbline.causal.heads;

import io.plumbline.records.ActivationBatch;
import io.plumbline.records.EncodedRows;
import io.plumbline.records.RequestRecord;
import io.plumbline.wire.KnownHeaders;
import java.util.ArrayList;
import java.util.List;

/**
 * Whole requests as a service keeps them, each a record of its own. A request is decoded when it is asked for.
 *
 * @param records those that can be run
 */
record RecordedRequests(List<byte[]> records, boolean withResidual) implements SiteStudy.Requests {

    /** Returns the first {@code most} of these records that the head can be run on. */
    static RecordedRequests usable(List<byte[]> records, int most, Head head) {
        List<byte[]> usable = new ArrayList<>();
        for (byte[] record : records) {
            if (usable.size() == most) {
                break;
            }
            if (isUsable(record, head)) {
                usable.add(record);
            }
        }
        return new RecordedRequests(usable, head.readsResidual());
    }

    /** Returns whether a record is one of rows, more than one, with all that the head reads. */
    private static boolean isUsable(byte[] record, Head head) {
        try {
            return rows(record, head.readsResidual()).rows() > 1;
        } catch (IllegalArgumentException refused) {
            return false;
        }
    }

    /**
     * Returns the rows of one record.
     *
     * @throws IllegalArgumentException if it is no record of rows, or lacks the residual stream
     */
    static RequestRows rows(byte[] record, boolean withResidual) {
        RequestRecord parsed = RequestRecord.parse(record, new KnownHeaders(), null);
        ActivationBatch batch = parsed.batch();
        if (!withResidual) {
            return new RequestRows(batch, null);
        }
        EncodedRows residual = parsed.residual();
        if (residual == null) {
            throw new IllegalArgumentException("a record has no tensor \"residual\"");
        }
        return new RequestRows(batch, residual.toMatrix());
    }

    @Override
    public int count() {
        return records.size();
    }

    @Override
    public RequestRows request(int index) {
        return rows(records.get(index), withResidual);
    }
}
