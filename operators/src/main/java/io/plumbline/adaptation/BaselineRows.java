package io.plumbline.adaptation;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.UsualRows;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The rows of clean traffic that a baseline keeps, encoded. They do not depend on the window: make this once per site.
 *
 * @param anchor to hold the trained decoder's answers on while a window is fitted; null where there are too few
 * @param check other requests, to price a decoder on; null where there are none
 * @param longest of them, which says which rows of a window are too long to judge a decoder
 */
public record BaselineRows(
        @Nullable SampleRows anchor, @Nullable SampleRows check, UsualRows.Longest longest) {

    private static final String SAE_LENS = "SAELens";

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
                rows.isEmpty() ? null : SampleRows.of(encoder, rows.subList(cut, rows.size()), width),
                UsualRows.Longest.of(rows));
    }

    /**
     * Returns why an explainer is not refitted whose folder was probably read otherwise than it was trained: a SAELens
     * transcoder that reconstructs clean traffic worse than its mean would. SAELens has no TopK transcoder and reads
     * one as ReLU, where many more features are active than in training. A sentence without a full stop, or null.
     */
    public @Nullable String misread(Explainer explainer) {
        if (check == null
                || !explainer.isTranscoder()
                || !explainer.origin().format().equals(SAE_LENS)) {
            return null;
        }
        double fvu = Reconstruction.of(explainer.decoder(), check.codes(), check.targets())
                .fvu();
        return fvu <= 1.0
                ? null
                : String.format(
                        Locale.ROOT,
                        "%s is read as %s and explains less than nothing of clean traffic: FVU %.3f on %d rows of the"
                                + " baseline, where their mean alone has 1; it is not refitted. Where only the k"
                                + " largest features were active in training, give %s and make the baseline anew",
                        explainer.origin().path(),
                        explainer.architecture(),
                        fvu,
                        check.rows(),
                        ExplainerOptions.howTo(ExplainerOptions.K, "K"));
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
