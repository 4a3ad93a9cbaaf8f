package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecoderSupportTest {

    /** Against the definition with the reference's own projectors: {@code |(I - Pi) w|^2 / |w|^2}. */
    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void sharesAreThoseOfTheReferencesProjectors(String name) {
        GoldenCase golden = GoldenCase.load(name);
        Decoder decoder = new Decoder(
                golden.decoderWeights(), new double[golden.decoderWeights().columns()]);
        Subspace baseline = ActiveSubspace.topEigenspace(golden.expected("M_id"), golden.rank())
                .subspace();
        Subspace window = ActiveSubspace.topEigenspace(golden.expected("M_ood"), golden.rank())
                .subspace();
        Matrix codes = golden.expected("z_ood");
        List<LostFeature> lost = DecoderSupport.of(decoder, baseline)
                .lost(window, FeatureActivity.of(SparseCodes.fromDense(codes)), null, Integer.MAX_VALUE);
        assertTrue(lost.size() > 3, name);
        double written = 0.0;
        for (int j = 0; j < decoder.features(); j++) {
            written += written(codes, decoder, j);
        }
        for (LostFeature feature : lost) {
            int j = feature.feature();
            assertEquals(outside(golden.expected("Pi_ood"), decoder, j), feature.outside(), 1e-9, name + " " + j);
            assertEquals(
                    outside(golden.expected("Pi_id"), decoder, j), feature.outsideBaseline(), 1e-9, name + " " + j);
            assertEquals(written(codes, decoder, j) / written, feature.activity(), 1e-12, name + " " + j);
            assertEquals(feature.activity() * (feature.outside() - feature.outsideBaseline()), feature.weight(), 1e-15);
            assertNull(feature.directionChange());
        }
    }

    @Test
    void everyFeatureThatLostAndIsActiveIsListedAndNoOther() {
        for (long seed = 1; seed <= 20; seed++) {
            Random random = new Random(seed);
            Decoder decoder = new Decoder(gaussian(random, 30, 6), new double[6]);
            Subspace baseline = subspace(random);
            Subspace window = subspace(random);
            Matrix codes = gaussian(random, 12, 30);
            for (int i = 0; i < 12; i++) {
                codes.set(i, 4, 0.0);
            }
            List<LostFeature> lost = DecoderSupport.of(decoder, baseline)
                    .lost(window, FeatureActivity.of(SparseCodes.fromDense(codes)), null, 100);
            for (int j = 0; j < 30; j++) {
                int feature = j;
                boolean expected =
                        j != 4 && outside(window.projector(), decoder, j) > outside(baseline.projector(), decoder, j);
                assertEquals(
                        expected, lost.stream().anyMatch(each -> each.feature() == feature), "seed " + seed + ", " + j);
            }
            for (int i = 1; i < lost.size(); i++) {
                assertTrue(lost.get(i - 1).weight() >= lost.get(i).weight(), "seed " + seed);
            }
            assertEquals(
                    lost.subList(0, Math.min(3, lost.size())),
                    DecoderSupport.of(decoder, baseline)
                            .lost(window, FeatureActivity.of(SparseCodes.fromDense(codes)), null, 3));
        }
    }

    /** Columns e0, e0, 2 e0, 0, e1 of which e0 was in the baseline's subspace and e1 is in the window's. */
    @Test
    void equalFeaturesComeInTheOrderOfTheirIndexAndAColumnOfZerosNever() {
        Decoder decoder = new Decoder(new Matrix(5, 2, new double[] {1, 0, 1, 0, 2, 0, 0, 0, 0, 1}), new double[2]);
        Subspace first = new Subspace(new Matrix(2, 1, new double[] {1, 0}));
        Subspace second = new Subspace(new Matrix(2, 1, new double[] {0, 1}));
        SparseCodes codes = SparseCodes.fromDense(new Matrix(2, 5, new double[] {3, 3, 1.5, 9, 9, 0, 0, 0, 0, 9}));
        List<LostFeature> lost = DecoderSupport.of(decoder, first).lost(second, FeatureActivity.of(codes), null, 10);
        assertEquals(List.of(0, 1, 2), lost.stream().map(LostFeature::feature).toList());
        assertEquals(1.0, lost.get(0).outside());
        assertEquals(0.0, lost.get(0).outsideBaseline());
        assertEquals(0.5, lost.get(0).frequency());
        assertEquals(9.0 / (3 * 9 + 2 * 81), lost.get(2).activity(), 1e-15);
    }

    @Test
    void aColumnThatTurnedSaysByHowMuch() {
        Decoder decoder = new Decoder(new Matrix(3, 2, new double[] {1, 0, 1, 0, 1, 0}), new double[2]);
        Decoder turned = new Decoder(new Matrix(3, 2, new double[] {5, 0, 3, 4, 0, 0}), new double[2]);
        SparseCodes codes = SparseCodes.fromDense(new Matrix(1, 3, new double[] {3, 2, 1}));
        List<LostFeature> lost = DecoderSupport.of(decoder, new Subspace(new Matrix(2, 1, new double[] {1, 0})))
                .lost(new Subspace(new Matrix(2, 1, new double[] {0, 1})), FeatureActivity.of(codes), turned, 10);
        assertEquals(0.0, Objects.requireNonNull(lost.get(0).directionChange()), 1e-15, "longer, not turned");
        assertEquals(0.4, Objects.requireNonNull(lost.get(1).directionChange()), 1e-15);
        assertEquals(1.0, Objects.requireNonNull(lost.get(2).directionChange()), "nothing is left of it");
    }

    @Test
    void codesOfAnotherExplainerAreRefused() {
        Decoder decoder = new Decoder(Matrix.identity(3), new double[3]);
        DecoderSupport support =
                DecoderSupport.of(decoder, new Subspace(Matrix.identity(3).leadingColumns(1)));
        assertThrows(
                IllegalArgumentException.class,
                () -> support.lost(
                        new Subspace(Matrix.identity(3).leadingColumns(1)), new FeatureActivity(4), null, 1));
        assertThrows(IllegalArgumentException.class, () -> new FeatureActivity(4)
                .add(SparseCodes.fromDense(Matrix.zeros(1, 3))));
    }

    private static double outside(Matrix projector, Decoder decoder, int feature) {
        Matrix column =
                decoder.weights().toMatrix().rowRange(feature, feature + 1).transpose();
        double rest = column.minus(Kernels.multiply(projector, column)).frobeniusNorm();
        double norm = column.frobeniusNorm();
        return norm == 0.0 ? 0.0 : rest * rest / (norm * norm);
    }

    private static double written(Matrix codes, Decoder decoder, int feature) {
        double norm =
                decoder.weights().toMatrix().rowRange(feature, feature + 1).frobeniusNorm();
        double sum = 0.0;
        for (int i = 0; i < codes.rows(); i++) {
            sum += codes.get(i, feature) * codes.get(i, feature) * norm * norm;
        }
        return sum;
    }

    private static Subspace subspace(Random random) {
        Matrix rows = gaussian(random, 40, 6);
        return ActiveSubspace.topEigenspace(Kernels.transposeMultiply(rows, rows), 2)
                .subspace();
    }

    private static Matrix gaussian(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian();
        }
        return matrix;
    }
}
