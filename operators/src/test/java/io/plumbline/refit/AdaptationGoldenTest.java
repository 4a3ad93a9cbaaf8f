package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptationGoldenTest {

    private static Adaptation.Adapted adapt(GoldenCase golden, double alpha) {
        JsonNode settings = golden.settings();
        Decoder trained = trained(golden);
        return assertInstanceOf(
                Adaptation.Adapted.class,
                GeometryAdapter.adapt(
                        trained,
                        ExplainerSubspace.ofWeights(trained.weights().toMatrix(), golden.rank()),
                        codes(golden),
                        golden.targets("ood"),
                        new GaeSettings(
                                golden.rank(),
                                Rotation.PRINTED,
                                Regularisation.absolute(
                                        settings.get("lambda_geom").asDouble(),
                                        settings.get("lambda_pres").asDouble()),
                                alpha)));
    }

    private static Decoder trained(GoldenCase golden) {
        return new Decoder(golden.decoderWeights(), golden.input("b_dec").values());
    }

    private static SparseCodes codes(GoldenCase golden) {
        return SparseCodes.fromDense(golden.expected("z_ood"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void everyDecoderOfTheMethodAgreesWithTheReference(String name) {
        GoldenCase golden = GoldenCase.load(name);
        Adaptation.Adapted gae = adapt(golden, 0.0);
        Adaptation.Adapted result = adapt(golden, golden.settings().get("alpha").asDouble());

        golden.assertMatrix("W_tilde", gae.stepOne().weights().toMatrix().transpose());
        golden.assertMatrix("W_gae", gae.decoder().weights().toMatrix().transpose());
        golden.assertVector("b_gae", gae.decoder().bias());
        golden.assertMatrix("W_final", result.decoder().weights().toMatrix().transpose());
        golden.assertVector("b_final", result.decoder().bias());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void everyScalarOfTheMethodAgreesWithTheReference(String name) {
        GoldenCase golden = GoldenCase.load(name);
        Decoder trained = trained(golden);
        SparseCodes codes = codes(golden);
        Matrix targets = golden.targets("ood");
        Adaptation.Adapted gae = adapt(golden, 0.0);
        Decoder result =
                adapt(golden, golden.settings().get("alpha").asDouble()).decoder();

        double[] alignment = gae.alignment();
        golden.assertScalar("procrustes_sigma_min", alignment[alignment.length - 1]);
        golden.assertScalar("procrustes_sigma_max", alignment[0]);
        golden.assertScalar(
                "w_tilde_dist",
                gae.stepOne()
                        .weights()
                        .toMatrix()
                        .minus(trained.weights().toMatrix())
                        .frobeniusNorm());
        assertGap(golden, gae, "w_tilde", gae.stepOne());
        assertGap(golden, gae, "w_gae", gae.decoder());
        assertGap(golden, gae, "w_final", result);

        Matrix projector = gae.active().subspace().projector();
        Matrix weights = gae.decoder().weights().toMatrix();
        golden.assertScalar(
                "outside_mass_w_gae",
                weights.minus(Kernels.multiply(weights, projector)).frobeniusNorm());
        golden.assertScalar(
                "step2_objective",
                PrimalRefit.objective(
                        weights,
                        codes.toDense(),
                        targets,
                        projector,
                        gae.stepOne().weights().toMatrix(),
                        gae.regularisation().geometric(),
                        gae.regularisation().preservation()));

        Decoder paperBias =
                new Decoder(result.weights().toMatrix(), gae.decoder().bias());
        Decoder oldBias = new Decoder(gae.stepOne().weights().toMatrix(), trained.bias());
        assertReconstruction(golden, "fixed_ood", trained, codes, targets);
        assertReconstruction(golden, "step1_ood", oldBias, codes, targets);
        assertReconstruction(golden, "step1_rebias_ood", gae.stepOne(), codes, targets);
        assertReconstruction(golden, "gae_ood", gae.decoder(), codes, targets);
        assertReconstruction(golden, "final_ood", result, codes, targets);
        assertReconstruction(golden, "final_paper_bias_ood", paperBias, codes, targets);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sae_relu", "sae_jumprelu_alpha", "transcoder_topk"})
    void dualFormAgreesWithTheFormOfThePaper(String name) {
        GoldenCase golden = GoldenCase.load(name);
        Adaptation.Adapted gae = adapt(golden, 0.0);
        Matrix primal = PrimalRefit.weights(
                golden.expected("z_ood"),
                golden.targets("ood"),
                gae.active().subspace().projector(),
                gae.stepOne().weights().toMatrix(),
                gae.regularisation().geometric(),
                gae.regularisation().preservation());
        double difference = primal.minus(gae.decoder().weights().toMatrix()).frobeniusNorm() / primal.frobeniusNorm();
        assertTrue(difference <= 1e-10, "%s: relative difference %s".formatted(name, difference));
    }

    private static void assertGap(GoldenCase golden, Adaptation.Adapted gae, String which, Decoder decoder) {
        ExplainerSubspace subspace =
                ExplainerSubspace.ofWeights(decoder.weights().toMatrix(), golden.rank());
        golden.assertScalar(
                "gap_" + which,
                FaithfulnessGap.between(gae.active().subspace(), subspace.subspace())
                        .value());
        golden.assertScalar("sv_r_" + which, subspace.singularValues()[golden.rank() - 1]);
    }

    private static void assertReconstruction(
            GoldenCase golden, String suffix, Decoder decoder, SparseCodes codes, Matrix targets) {
        Reconstruction figures = Reconstruction.of(decoder, codes, targets);
        golden.assertScalar("mse_" + suffix, figures.mse());
        golden.assertScalar("mse_per_element_" + suffix, figures.msePerElement());
        golden.assertScalar("fvu_" + suffix, figures.fvu());
    }
}
