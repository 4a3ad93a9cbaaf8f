package io.plumbline.comparison;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.FeatureActivityAccumulator;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sums of the rows of one side by group of requests.
 *
 * <p>The variance is a difference of sums. In float64 it loses as many digits as the energy of the mean has more than
 * the variance, 2 of 16 at most sites, and needs no second pass, which would encode again.
 *
 * <p><b>Size.</b> {@code 4 G d(d+3)} bytes for G groups where subspaces are compared: 38 MB at d = 768, 1.1 GB at
 * d = 4,096. Not thread-safe.
 */
final class Side {

    final FeatureActivityAccumulator activity;
    private final Explainer explainer;
    private final SecondMomentAccumulator[] moments;
    private final double[][] sums;
    private final double[] rows;
    private final double[] squares;
    private final double[] errors;
    private @Nullable SecondMoment whole;

    /** @param subspaces whether second moments are summed, which the figures of subspaces are made of */
    Side(int groups, Explainer explainer, boolean subspaces) {
        this.explainer = explainer;
        moments = Stream.generate(() -> SecondMomentAccumulator.ofDimension(explainer.targetWidth()))
                .limit(subspaces ? groups : 0)
                .toArray(SecondMomentAccumulator[]::new);
        sums = new double[groups][explainer.targetWidth()];
        rows = new double[groups];
        squares = new double[groups];
        errors = new double[groups];
        activity = FeatureActivityAccumulator.of(explainer.features());
    }

    /** Adds a request with its targets as they came, and returns its codes. */
    SparseCodes add(int group, ActivationBatch request) {
        Matrix targets = request.targetRows();
        SparseCodes codes = explainer.encoder().encode(request.activations());
        Matrix decoded = explainer.decoder().reconstruct(codes);
        double error = targets.distance(explainer.space().toTargets(request.activations(), decoded));
        if (moments.length > 0) {
            moments[group].add(explainer.space().of(request).targetRows());
        }
        activity.addRows(codes).endRequest();
        rows[group] += targets.rows();
        errors[group] += error * error;
        for (int i = 0; i < targets.values().length; i++) {
            double value = targets.values()[i];
            sums[group][i % targets.columns()] += value;
            squares[group] += value * value;
        }
        return codes;
    }

    long rows() {
        return (long) Estimate.without(rows, Estimate.NONE);
    }

    /** Returns the squared errors over the squared distances to the mean, of the rows of all other groups. */
    double fvuWithout(int group) {
        double variance = Estimate.without(squares, group);
        double count = Estimate.without(rows, group);
        for (int j = 0; j < sums[0].length; j++) {
            double sum = 0.0;
            for (int g = 0; g < sums.length; g++) {
                sum += g == group ? 0.0 : sums[g][j];
            }
            variance -= sum * sum / count;
        }
        return Estimate.without(errors, group) / variance;
    }

    /** Returns the second moment of the rows of all other groups. */
    Matrix momentWithout(int group) {
        if (whole == null) {
            whole = SecondMomentAccumulator.sum(explainer.targetWidth(), List.of(moments));
        }
        return (group == Estimate.NONE ? whole : whole.minus(moments[group].snapshot())).matrix();
    }

    /** Returns the active subspace of all rows, and behind it those without each group. */
    ActiveSubspace[] spaces(int rank) {
        ActiveSubspace[] spaces = new ActiveSubspace[rows.length + 1];
        for (int i = 0; i < spaces.length; i++) {
            Matrix start = i == 0 ? null : spaces[0].subspace().basis();
            spaces[i] = ActiveSubspace.leadingOnly(momentWithout(i - 1), rank, start);
        }
        return spaces;
    }
}
