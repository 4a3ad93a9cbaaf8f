package io.plumbline.adaptation;

import io.plumbline.explainer.Encoder;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.UsualRows;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of clean traffic that a baseline keeps, encoded. They do not depend on the window: make this once per site.
 *
 * @param anchor to hold the trained decoder's answers on while a window is fitted; null where there are too few
 * @param check other requests, to price a decoder on; null where there are none
 */
public record BaselineRows(
        @Nullable SampleRows anchor, @Nullable SampleRows check) {

    /**
     * Encodes them. The requests of a baseline stand in the order of their hashes, so that either half is a sample of
     * the recording; where there is only one request it is for the check. Rows of enormous length are left out, as they
     * are of a window ({@link UsualRows}).
     *
     * @param all rows, request after request
     * @param width d, of the target space
     */
    public static BaselineRows of(Encoder encoder, List<SampledRow> all, int width) {
        List<SampledRow> rows = UsualRows.of(all);
        int cut = middle(rows);
        return new BaselineRows(
                cut == 0 ? null : SampleRows.of(encoder, rows.subList(0, cut), width),
                rows.isEmpty() ? null : SampleRows.of(encoder, rows.subList(cut, rows.size()), width));
    }

    /** Returns where the request begins that the middle row belongs to. */
    private static int middle(List<SampledRow> rows) {
        int cut = rows.size() / 2;
        while (cut > 0 && rows.get(cut - 1).request() == rows.get(cut).request()) {
            cut--;
        }
        return cut;
    }
}
