package io.plumbline.topology.cli;

import io.plumbline.baseline.RecordedWindow;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import java.io.IOException;

/** Makes the passes over the dumps of a window. */
final class DumpPasses {

    private DumpPasses() {}

    /** Returns the second moment of the targets. */
    static SecondMoment moment(ActivationStream stream, Explainer trained) throws IOException {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(trained.targetWidth());
        stream.forEach("moments", request -> moment.add(request.targetRows()));
        return moment.snapshot();
    }

    /**
     * Returns squared errors over squared distances to the mean. A second pass, because the mean is known only after
     * the first: the shortcut {@code tr M - |mean|^2} loses digits where the mean is most of the energy, as it is at
     * these sites.
     */
    static double reconstructionFvu(
            ActivationStream stream,
            Explainer trained,
            SecondMoment moment,
            RecordedWindow requests,
            SecondMomentAccumulator reconstructions)
            throws IOException {
        double[] mean = trained.space().isPlain() ? moment.mean() : meanOfTargets(stream, trained);
        double[] sums = new double[2];
        stream.forEach("reconstruction", request -> {
            Matrix reconstruction = trained.reconstruct(request.activations());
            if (trained.isGiven()) {
                reconstructions.add(reconstruction);
            }
            Matrix rows = trained.space().targets(request);
            Matrix reconstructed = trained.space().toTargets(request.activations(), reconstruction);
            requests.add(request, rows, reconstructed);
            for (int i = 0; i < rows.values().length; i++) {
                double error = rows.values()[i] - reconstructed.values()[i];
                double distance = rows.values()[i] - mean[i % mean.length];
                sums[0] += error * error;
                sums[1] += distance * distance;
            }
        });
        return sums[0] / sums[1];
    }

    /** Returns the mean of the targets as they come. */
    private static double[] meanOfTargets(ActivationStream stream, Explainer trained) throws IOException {
        double[] mean = new double[trained.targetWidth()];
        long[] rows = {0};
        stream.forEach("means", request -> {
            Matrix targets = trained.space().targets(request.activations(), request.targetRows());
            for (int i = 0; i < targets.values().length; i++) {
                mean[i % mean.length] += targets.values()[i];
            }
            rows[0] += targets.rows();
        });
        for (int j = 0; j < mean.length; j++) {
            mean[j] /= rows[0];
        }
        return mean;
    }
}
