package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class EigensolversTest {

    private static final SymmetricEigensolver RIGHT = new OjAlgoEigensolver();

    @Test
    void aProviderThatDecomposesTheTrialIsTaken() {
        assertSame(RIGHT, Eigensolvers.requireOne(List.of(RIGHT)));
    }

    @Test
    void withoutAProviderTheWishIsRefused() {
        assertTrue(refusal(List.of()).contains("no provider of io.plumbline.linalg.SymmetricEigensolver"));
    }

    @Test
    void theSolverThatARunNamesIsOjAlgoUnlessANativeOneIsAskedFor() {
        assertEquals("ojAlgo", SymmetricEigen.solver());
    }

    @Test
    void wrongEigenvaluesAreRefused() {
        assertTrue(refusal(List.of(new Wrong(1.0 + 1e-9, 0))).contains("wrong gives eigenvalue 0 of a trial as"));
    }

    @Test
    void wrongVectorsAreRefused() {
        assertTrue(refusal(List.of(new Wrong(1.0, 1e-6))).contains("wrong gives vectors of a trial"));
    }

    @Test
    void aWrongProviderDoesNotHideARightOne() {
        assertSame(RIGHT, Eigensolvers.requireOne(List.of(new Wrong(2, 0), RIGHT)));
    }

    @Test
    void withoutAWishLargeMatricesAreDecomposedByOjAlgo() {
        assertEquals("ojAlgo", Eigensolvers.of(4_096).name());
    }

    private static String refusal(List<SymmetricEigensolver> providers) {
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> Eigensolvers.requireOne(providers));
        String message = String.valueOf(refusal.getMessage());
        assertTrue(message.startsWith("-Dplumbline.kernel=native: "), message);
        return message;
    }

    private record Wrong(double factor, double offset) implements SymmetricEigensolver {
        @Override
        public String name() {
            return "wrong";
        }

        @Override
        public SymmetricEigen decompose(Matrix symmetric) {
            SymmetricEigen right = RIGHT.decompose(symmetric);
            right.values()[0] *= factor;
            right.vectors().set(0, 0, right.vectors().get(0, 0) + offset);
            return right;
        }
    }
}
