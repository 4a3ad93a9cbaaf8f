package io.plumbline.causal.heads;

import io.plumbline.causal.heads.Sums.Of;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One request at a site: its codes, its original run and its zero run, made once for any number of decoders.
 *
 * <p><b>Cost.</b> Two runs of the head, one more for each decoder that is scored; an ablation adds a run for each
 * active feature of the last row and up to ten. <b>Size.</b> The logits of the original run.
 */
public final class RequestStudy {

    private final Explainer explainer;
    private final Head head;
    private final RequestRows request;
    private final SparseCodes codes;
    private final Logits original;
    private final Sums fixed;

    private RequestStudy(
            Explainer explainer, Head head, RequestRows request, SparseCodes codes, Logits original, Sums fixed) {
        this.explainer = explainer;
        this.head = head;
        this.request = request;
        this.codes = codes;
        this.original = original;
        this.fixed = fixed;
    }

    /**
     * Encodes a request, and runs it as it was and with its rows at zero.
     *
     * @param targetMean mean target over the counted rows of all requests, for FVU
     * @throws IllegalArgumentException when it has fewer than two rows, or a token that the head does not know
     * @throws HeadException when the head gives no usable answer
     */
    public static RequestStudy of(Explainer explainer, Head head, RequestRows request, double[] targetMean) {
        if (request.rows() < 2) {
            throw new IllegalArgumentException(
                    "a request of 1 row: expected 2 or more, the first is never replaced and never counted");
        }
        SparseCodes codes = explainer.encoder().encode(request.batch().activations());
        Matrix rows = request.targets();
        Logits original = head.logits(rows, request.residual());
        requireTokens(request, original);
        Matrix zero = Matrix.zeros(rows.rows(), rows.columns());
        System.arraycopy(rows.values(), 0, zero.values(), 0, rows.columns());
        Logits zeroed = head.logits(zero, request.residual());
        Sums.Builder sums = new Sums.Builder();
        sums.add(Of.REQUESTS, 1.0);
        sums.add(Of.ROWS, request.rows() - 1.0);
        sums.add(Of.CE_ORIGINAL, crossEntropy(request, original));
        sums.add(Of.CE_ZERO, crossEntropy(request, zeroed));
        if (request.batch().tokenIds() != null && request.rows() > 2) {
            sums.add(Of.ROWS_CE, request.rows() - 2.0);
            sums.add(Of.REQUESTS_CE, 1.0);
        }
        for (int row = 1; row < request.rows(); row++) {
            sums.add(Of.KL_ZERO, original.divergence(zeroed, row));
            sums.add(Of.ACTIVE, codes.rowStart()[row + 1] - codes.rowStart()[row]);
            for (int j = 0; j < rows.columns(); j++) {
                double value = rows.get(row, j);
                sums.add(Of.SQUARES, value * value);
                sums.add(Of.SPREAD, (value - targetMean[j]) * (value - targetMean[j]));
            }
        }
        return new RequestStudy(explainer, head, request, codes, original, sums.build());
    }

    private static void requireTokens(RequestRows request, Logits logits) {
        long[] tokens = request.batch().tokenIds();
        if (logits.rows() != request.rows()) {
            throw new HeadException(
                    HeadException.Fault.WRONG_SHAPE,
                    "logits of %d rows for a request of %d".formatted(logits.rows(), request.rows()));
        }
        for (int row = 0; tokens != null && row < tokens.length; row++) {
            if (tokens[row] < 0 || tokens[row] >= logits.vocabulary()) {
                throw new IllegalArgumentException("token_ids: row %d has token %d, the head has logits for %d tokens"
                        .formatted(row, tokens[row], logits.vocabulary()));
            }
        }
    }

    /** Sums of {@code -log p(token t + 1 | row t)} over t = 1 .. T-2; 0 without token ids. */
    private static double crossEntropy(RequestRows request, Logits logits) {
        long[] tokens = request.batch().tokenIds();
        double sum = 0.0;
        for (int row = 1; tokens != null && row < request.rows() - 1; row++) {
            sum += logits.crossEntropy(row, (int) tokens[row + 1]);
        }
        return sum;
    }

    /** Returns the codes of all rows, the first included. */
    public SparseCodes codes() {
        return codes;
    }

    /** Returns the sums of the sequence metrics with a decoder's reconstruction in place of all rows but the first. */
    Sums sequence(Decoder decoder) {
        Matrix rows = request.targets();
        Matrix patched = patched(explainer, request, codes, decoder);
        Logits logits = head.logits(patched, request.residual());
        Sums.Builder sums = new Sums.Builder();
        sums.add(fixed);
        double ce = crossEntropy(request, logits);
        sums.add(Of.CE_PATCHED, ce);
        if (fixed.get(Of.ROWS_CE) > 0.0) {
            sums.add(Of.ABS_DELTA_CE, Math.abs(ce - fixed.get(Of.CE_ORIGINAL)) / fixed.get(Of.ROWS_CE));
        }
        for (int row = 1; row < request.rows(); row++) {
            sums.add(Of.KL, original.divergence(logits, row));
            sums.add(Of.AGREEMENTS, original.mostLikely(row) == logits.mostLikely(row) ? 1.0 : 0.0);
            for (int j = 0; j < rows.columns(); j++) {
                double error = rows.get(row, j) - patched.get(row, j);
                sums.add(Of.ERROR, error * error);
            }
        }
        return sums.build();
    }

    /** Returns the rows with a decoder's reconstruction in the place of all but the first. */
    static Matrix patched(Explainer explainer, RequestRows request, SparseCodes codes, Decoder decoder) {
        Matrix rows = request.targets();
        Matrix patched = explainer.space().toTargets(request.batch().activations(), decoder.reconstruct(codes));
        System.arraycopy(rows.values(), 0, patched.values(), 0, rows.columns());
        return patched;
    }

    /**
     * Removes features of the last row in the order of a ranking.
     *
     * @param unembedding what {@link FeatureRanking#DLA} needs; else null
     * @throws IllegalArgumentException where that ranking lacks it, or it lacks a token of the head
     */
    public Ablation ablation(Decoder decoder, FeatureRanking ranking, @Nullable Unembedding unembedding) {
        if (ranking == FeatureRanking.DLA) {
            required(unembedding).requireAll(original);
        }
        int last = request.rows() - 1;
        int target = original.mostLikely(last);
        int from = codes.rowStart()[last];
        int active = codes.rowStart()[last + 1] - from;
        boolean[] kept = new boolean[active];
        Arrays.fill(kept, true);
        double full = logit(decoder, kept, target);
        double none = logit(decoder, new boolean[active], target);
        double[] effects = new double[active];
        for (int i = 0; i < active; i++) {
            if (ranking == FeatureRanking.DLA) {
                effects[i] = codes.value()[from + i]
                        * required(unembedding).direct(decoder.weights(), codes.feature()[from + i], target);
            } else {
                kept[i] = false;
                effects[i] = full - logit(decoder, kept, target);
                kept[i] = true;
            }
        }
        // Features of a row ascend, and the sort is stable: of equal effects the lowest id comes first.
        int[] order = IntStream.range(0, active)
                .boxed()
                .sorted((a, b) -> Double.compare(effects[b], effects[a]))
                .mapToInt(Integer::intValue)
                .toArray();
        int[] budgets = Ablation.budgets();
        double[] without = new double[budgets.length];
        int removed = 0;
        for (int b = 0; b < budgets.length; b++) {
            while (removed < Math.min(budgets[b], active)) {
                kept[order[removed++]] = false;
            }
            without[b] = removed == active ? none : logit(decoder, kept, target);
        }
        int[] ranked = IntStream.of(order).map(i -> codes.feature()[from + i]).toArray();
        double[] ordered = IntStream.of(order).mapToDouble(i -> effects[i]).toArray();
        return new Ablation(target, original.get(last, target), full, none, ranked, ordered, without);
    }

    /** Returns the target's logit with the last row decoded from some of its features, the other rows as they were. */
    private double logit(Decoder decoder, boolean[] kept, int target) {
        int last = request.rows() - 1;
        double[] row = decoder.bias().clone();
        for (int i = 0; i < kept.length; i++) {
            int entry = codes.rowStart()[last] + i;
            if (kept[i]) {
                decoder.weights().addRow(codes.value()[entry], codes.feature()[entry], row, 0);
            }
        }
        Matrix decoded = explainer
                .space()
                .toTargets(request.batch().activations().rowRange(last, last + 1), new Matrix(1, row.length, row));
        Matrix rows = request.targets().copy();
        System.arraycopy(decoded.values(), 0, rows.values(), last * rows.columns(), rows.columns());
        return head.logits(rows, request.residual()).get(last, target);
    }

    private static Unembedding required(@Nullable Unembedding unembedding) {
        if (unembedding == null) {
            throw new IllegalArgumentException("ranking by dla needs the unembedding");
        }
        return unembedding;
    }

    /** Returns the logits of the original run. */
    public Logits original() {
        return original;
    }

    /** Returns the logits with a decoder's reconstruction in place of all rows but the first. */
    public Logits patched(Decoder decoder) {
        return head.logits(patched(explainer, request, codes, decoder), request.residual());
    }

    /** Returns the most likely token after the last row of the original run. */
    public int target() {
        return original.mostLikely(request.rows() - 1);
    }
}
