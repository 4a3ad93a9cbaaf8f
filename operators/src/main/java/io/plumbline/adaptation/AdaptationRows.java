package io.plumbline.adaptation;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.KnownCodes;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.UsualRows;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows an adaptation is made of, encoded: no request is in two of {@code fit}, {@code choose} and {@code judge},
 * unless the split says otherwise, nor in both of {@code anchor} and {@code check}.
 *
 * @param fit rows of the window to fit every candidate on
 * @param choose to choose between them
 * @param refit to fit the chosen one on before it is judged
 * @param judge for the gate, without rows that are much longer than clean ones ({@link UsualRows#toJudge})
 * @param all every row of the window: to fit the one that passed on
 * @param anchor rows of the baseline to hold the trained decoder's answers on; null where there are none
 * @param check other rows of the baseline, to price a decoder on; null where there are none
 */
public record AdaptationRows(
        SampleRows fit,
        SampleRows choose,
        SampleRows refit,
        SampleRows judge,
        SampleRows all,
        @Nullable SampleRows anchor,
        @Nullable SampleRows check) {

    private static final int FEWEST_ANCHORS = 1_024;

    /**
     * Encodes the rows of a split, every row once, though it is in several parts.
     *
     * @param width d, of the target space
     */
    public static AdaptationRows of(Encoder encoder, SampleSplit split, BaselineRows baseline, int width) {
        return of(encoder, KnownCodes.NONE, split, baseline, width);
    }

    /**
     * Encodes the rows of a split, every row once, but for those whose codes are known.
     *
     * @param known codes that this encoder made
     * @param width d, of the target space
     */
    public static AdaptationRows of(
            Encoder encoder, KnownCodes known, SampleSplit split, BaselineRows baseline, int width) {
        IdentityHashMap<SampledRow, Integer> places = new IdentityHashMap<>();
        for (SampledRow row : split.all()) {
            places.put(row, places.size());
        }
        SampleRows all = SampleRows.of(encoder, known, split.all(), width);
        SampleRows fit = part(all, places, split.fit());
        SampleRows judge = part(all, places, UsualRows.toJudge(split.judge(), split.all(), baseline.longest()));
        boolean three = split.judgeIsIndependent();
        return new AdaptationRows(
                fit,
                three ? part(all, places, split.choose()) : judge,
                three ? part(all, places, split.refit()) : fit,
                judge,
                all,
                anchor(baseline, split.all().size()),
                baseline.check());
    }

    /**
     * Returns half as many anchors as rows of the window, so that clean traffic keeps its weight where rows of several
     * windows are pooled, and {@value #FEWEST_ANCHORS} at least.
     *
     * <p>Twice as many were measured and not taken: at 2,048 rows they took .010 (German) and .008 (code) of FVU from
     * the cost in distribution, and gave up .003 on later German.
     */
    private static @Nullable SampleRows anchor(BaselineRows baseline, int rows) {
        SampleRows anchor = baseline.anchor();
        return anchor == null ? null : anchor.first(Math.max(FEWEST_ANCHORS, rows / 2));
    }

    private static SampleRows part(SampleRows all, IdentityHashMap<SampledRow, Integer> places, List<SampledRow> rows) {
        return all.select(rows.stream().mapToInt(places::get).toArray());
    }

    /** Returns these rows without those that hold the trained decoder's answers. */
    AdaptationRows withoutAnchor() {
        return new AdaptationRows(fit, choose, refit, judge, all, null, check);
    }
}
