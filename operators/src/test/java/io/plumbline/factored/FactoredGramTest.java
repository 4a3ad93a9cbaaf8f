package io.plumbline.factored;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.MadeUpFactors.Form;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FactoredGramTest {

    private static final Decoder TRAINED = MadeUpFactors.trained(300, 24);
    private static final ExplainerSubspace SUBSPACE = ExplainerSubspace.of(TRAINED, 4);

    @ParameterizedTest
    @EnumSource
    void itIsTheProductOfTheWeightsThatTheFactorsMake(Form form) {
        assertGram(MadeUpFactors.of(form, TRAINED, 4, 60, 3));
    }

    @Test
    void aDecoderThatLearntNothingHasTheTrainedProduct() {
        assertGram(DecoderFactors.ofTrained(TRAINED));
    }

    /** Weights are rounded to float32 after they are made, and terms of these cancel, of a size of some hundreds. */
    private static void assertGram(DecoderFactors factors) {
        Decoder made = factors.of(TRAINED);
        Matrix expected = DictionarySpace.gram(made.weights());
        Matrix found = FactoredGram.of(factors, made, TRAINED, SUBSPACE);
        double error = found.minus(expected).frobeniusNorm();
        assertTrue(error <= 1e-4 * expected.frobeniusNorm(), () -> "an error of %s beside %s"
                .formatted(error, expected.frobeniusNorm()));
    }
}
