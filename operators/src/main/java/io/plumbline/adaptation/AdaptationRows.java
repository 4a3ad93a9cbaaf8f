package io.plumbline.adaptation;

import io.plumbline.explainer.Encoder;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows an adaptation is made of, encoded: no request is in two of {@code fit}, {@code choose} and {@code judge}, unless the
 * split says otherwise, nor in both of {@code anchor} and {@code check}.
 *
 * @param fit rows of the window to fit every candidate on
 * @param choose to choose between them
 * @param refit to fit the chosen one on
 * @param judge for the gate
 * @param anchor rows of the baseline to hold the trained decoder's answers on; null where there are none
 * @param check other rows of the baseline, to price a decoder on; null where there are none
 */
public record AdaptationRows(
        SampleRows fit,
        SampleRows choose,
        SampleRows refit,
        SampleRows judge,
        @Nullable SampleRows anchor,
        @Nullable SampleRows check) {

    /**
     * Encodes what a split and a baseline give. The requests of the baseline stand in the order of their hashes, so that either
     * half is a sample of the recording; where there is only one request it is for the check.
     *
     * @param width d, of the target space
     */
    public static AdaptationRows of(Encoder encoder, SampleSplit split, List<SampledRow> baselineRows, int width) {
        SampleRows fit = SampleRows.of(encoder, split.fit(), width);
        SampleRows judge = SampleRows.of(encoder, split.judge(), width);
        boolean three = split.judgeIsIndependent();
        int cut = middle(baselineRows);
        return new AdaptationRows(
                fit,
                three ? SampleRows.of(encoder, split.choose(), width) : judge,
                three ? SampleRows.of(encoder, split.refit(), width) : fit,
                judge,
                cut == 0 ? null : SampleRows.of(encoder, baselineRows.subList(0, cut), width),
                baselineRows.isEmpty()
                        ? null
                        : SampleRows.of(encoder, baselineRows.subList(cut, baselineRows.size()), width));
    }

    /** Where the request begins that the middle row belongs to. */
    private static int middle(List<SampledRow> rows) {
        int cut = rows.size() / 2;
        while (cut > 0 && rows.get(cut - 1).request() == rows.get(cut).request()) {
            cut--;
        }
        return cut;
    }
}
