package io.plumbline.calibration;

/** What is said about a site after a window. */
public sealed interface DriftVerdict {

    /** The sentence that goes with it. */
    String reason();

    /** {@code aligned}, {@code drifted} or {@code undecided}: its name in reports and metrics. */
    String label();

    /** The explainer still describes the model. */
    record Aligned(String reason) implements DriftVerdict {
        @Override
        public String label() {
            return "aligned";
        }
    }

    /** It does not. */
    record Drifted(String reason) implements DriftVerdict {
        @Override
        public String label() {
            return "drifted";
        }
    }

    /** This window cannot tell: too few rows, no eigengap, no threshold. */
    record Undecided(String reason) implements DriftVerdict {
        @Override
        public String label() {
            return "undecided";
        }
    }
}
