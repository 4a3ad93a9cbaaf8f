package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Matrix;
import io.plumbline.toy.ToyExplainer;
import io.plumbline.toy.ToyStream;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The paper's controlled setting at full severity: 2,048 rows, a dictionary of 1,024 features, rank 8. */
class ToyRefitTest {

    @Test
    void refitOfTheControlledSettingAgreesWithTheReference() throws IOException {
        ToyExplainer explainer = ToyExplainer.autoencoder();
        Decoder trained = explainer.decoder();
        Matrix hidden =
                ToyStream.load().rows(ToyStream.SEVERITIES - 1, 1, 0, 2048).hidden();
        SparseCodes codes = explainer.encoder().encode(hidden);
        Adaptation.Adapted adapted = assertInstanceOf(
                Adaptation.Adapted.class,
                GeometryAdapter.adapt(
                        trained,
                        ExplainerSubspace.of(trained, ToyStream.RANK),
                        codes,
                        hidden,
                        new GaeSettings(ToyStream.RANK, Rotation.PRINTED, Regularisation.absolute(0.001, 0.002), 0)));

        Safetensors expected = Safetensors.parse(GoldenCase.bytes("toy/gae_sae_k1024_s1_n2048.safetensors"));
        assertClose("W_tilde", expected, adapted.stepOne().weights().toMatrix().transpose());
        assertClose("W_gae", expected, adapted.decoder().weights().toMatrix().transpose());
        assertClose(
                "b_gae",
                expected,
                new Matrix(1, ToyStream.HIDDEN_WIDTH, adapted.decoder().bias()));
    }

    private static void assertClose(String name, Safetensors expected, Matrix actual) {
        Matrix reference = expected.tensor(name).toMatrix();
        double relative = reference.minus(actual).frobeniusNorm() / reference.frobeniusNorm();
        assertTrue(relative <= 1e-5, "%s: relative difference %s".formatted(name, relative));
    }
}
