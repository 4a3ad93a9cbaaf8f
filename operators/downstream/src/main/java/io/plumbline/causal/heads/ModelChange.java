package io.plumbline.causal.heads;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Compares the output of the rest of a model on the rows of the same requests before and after a change of what comes
 * before it.
 *
 * @param kl mean of {@code KL(before || after)} of the next token over all rows but the first of each request, in nats;
 *     null where no request was run
 * @param requests that were run
 * @param leftOut requests of one row, or with a row that is not finite
 */
public record ModelChange(@Nullable Interval kl, int requests, int leftOut) {

    /**
     * Runs both sides.
     *
     * <p><b>Cost.</b> Two runs of the head for each request. <b>Size.</b> The logits of one request, twice.
     *
     * @param before requests with as many rows as those of {@code after}
     * @throws HeadException when there is no answer, or one that is not finite or of another shape
     */
    public static ModelChange between(Head head, SiteStudy.Requests before, SiteStudy.Requests after) {
        List<Sums> sums = new ArrayList<>();
        for (int i = 0; i < before.count(); i++) {
            RequestRows one = before.request(i);
            RequestRows other = after.request(i);
            if (one.rows() > 1 && isFinite(one) && isFinite(other)) {
                Logits logits = head.logits(one.targets(), one.residual());
                Logits changed = head.logits(other.targets(), other.residual());
                Sums.Builder sum = new Sums.Builder();
                for (int row = 1; row < one.rows(); row++) {
                    sum.add(Sums.Of.KL, logits.divergence(changed, row));
                    sum.add(Sums.Of.ROWS, 1.0);
                }
                sums.add(sum.build());
            }
        }
        return new ModelChange(
                sums.isEmpty() ? null : RequestBootstrap.of(sums).interval(Metric.KL::of),
                sums.size(),
                before.count() - sums.size());
    }

    private static boolean isFinite(RequestRows request) {
        Matrix residual = request.residual();
        return Double.isFinite(request.targets().frobeniusNorm())
                && (residual == null || Double.isFinite(residual.frobeniusNorm()));
    }
}
