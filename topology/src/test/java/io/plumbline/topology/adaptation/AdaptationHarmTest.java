package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the controlled setting; recordings are in {@link AdaptationHarmSoak}. */
class AdaptationHarmTest {

    private static final double HARM = 0.002;

    static Stream<HarmCase> cases() {
        return HarmCases.toy(1_024).stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theDefaultProfileNeverReconstructsWorseThanTheTrainedDecoder(HarmCase shift) {
        assertNoHarm(shift);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theTrainedDecoderStaysInDistribution(HarmCase shift) {
        assertKept(shift);
    }

    static void assertNoHarm(HarmCase shift) {
        HarmCase.Figures figures = shift.measure();
        System.out.println(figures.row(shift.name()));
        double harm = figures.auto().later() - figures.fixed().later();
        assertTrue(harm <= HARM, figures.row(shift.name()));
    }

    static void assertKept(HarmCase shift) {
        var adaptation = shift.autoInDistribution();
        assertFalse(
                adaptation.publishes(),
                () -> shift.name() + ": " + adaptation.decision().reason());
    }
}
