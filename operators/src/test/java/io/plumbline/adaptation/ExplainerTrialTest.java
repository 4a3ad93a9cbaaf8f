package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.SampleRows;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ExplainerTrialTest {

    private static final int REQUESTS = 12;

    /** Two features that give the row back, times a strength, and a third that never fires. */
    private static Explainer explainer(double strength) {
        Matrix encoder = new Matrix(3, 1, new double[] {1, -1, 0});
        Matrix decoder = new Matrix(3, 1, new double[] {strength, -strength, 1});
        return new Explainer(
                "standard",
                ReluEncoder.of(encoder, new double[3]),
                new Decoder(decoder, new double[1]),
                Path.of("none"));
    }

    private static SampleRows rows(Explainer explainer) {
        Random random = new Random(7);
        Matrix targets = Matrix.zeros(4 * REQUESTS, 1);
        long[] requests = new long[targets.rows()];
        for (int i = 0; i < targets.rows(); i++) {
            targets.set(i, 0, random.nextGaussian());
            requests[i] = i / 4;
        }
        SparseCodes codes = explainer.encoder().encode(targets);
        return new SampleRows(codes, targets, requests);
    }

    private static ExplainerTrial trial(double inService, double shadow) {
        Explainer serving = explainer(inService);
        Explainer other = explainer(shadow);
        SampleRows rows = rows(serving);
        return ExplainerTrial.of(rows, serving.decoder().reconstruct(rows.codes()), rows(other), other);
    }

    @Test
    void figuresAreThoseOfTheDefinitionWrittenOut() {
        ExplainerTrial trial = trial(0.5, 0.75);
        SampleRows rows = rows(explainer(1.0));
        double mean = 0.0;
        for (double value : rows.targets().values()) {
            mean += value / rows.rows();
        }
        double spread = 0.0;
        double energy = 0.0;
        double[] differences = new double[REQUESTS];
        for (int i = 0; i < rows.rows(); i++) {
            double value = rows.targets().get(i, 0);
            spread += (value - mean) * (value - mean);
            energy += value * value;
            differences[i / 4] += (0.25 - 0.0625) * value * value;
        }
        assertEquals(0.25 * energy / spread, trial.inService().fvu(), 1e-12);
        assertEquals(0.0625 * energy / spread, trial.shadow().fvu(), 1e-12);
        assertEquals(1.0, trial.shadow().activePerRow());
        assertEquals(2, trial.shadow().seen(), "the third never fires");
        double meanOf = 0.0;
        for (double difference : differences) {
            meanOf += difference / REQUESTS;
        }
        double squares = 0.0;
        for (double difference : differences) {
            squares += (difference - meanOf) * (difference - meanOf);
        }
        // 2.201: the .975 quantile of Student's t with 11 degrees of freedom.
        double expected = 2.201 * Math.sqrt(squares / 11 / REQUESTS) * REQUESTS / spread;
        assertEquals(expected, trial.halfWidth(), 1e-4 * expected);
        assertEquals(trial.shadow().fvu() - trial.inService().fvu(), trial.difference());
    }

    @Test
    void betterAndWorseAreOneTestWithTheTwoExchanged() {
        assertTrue(trial(0.5, 0.75).shadowIsBetter());
        assertFalse(trial(0.5, 0.75).shadowIsWorse());
        assertTrue(trial(0.75, 0.5).shadowIsWorse());
        assertFalse(trial(0.75, 0.5).shadowIsBetter());
        assertFalse(trial(0.5, 0.5).shadowIsBetter());
        assertFalse(trial(0.5, 0.5).shadowIsWorse());
    }
}
