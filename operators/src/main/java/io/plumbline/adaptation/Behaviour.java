package io.plumbline.adaptation;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Says what the model does with a proposed decoder, by {@code KL(original | patched)} of the next token, in nats.
 *
 * <p><b>Why KL.</b> On a small live model and 84 refits |Delta CE| was better in 9 where FVU and KL were worse, since
 * errors cancel in its mean; nAOPC fell in 13 of 53 where KL improved; five refits passed a gate on FVU and had a KL
 * that was worse or no better.
 */
public sealed interface Behaviour {

    /** Returns the gate's test {@value GateTest#BEHAVIOUR}. */
    GateTest test();

    /**
     * The changes of the KL that were measured.
     *
     * @param heldOut with the decoder in service, on requests that had no part in the fit
     * @param inDistribution with the trained decoder, on requests of normal traffic; null without such requests
     * @param maximumGrowth share by which the KL on normal traffic may exceed the trained decoder's, 0 or more
     */
    record Measured(Change heldOut, @Nullable Change inDistribution, double maximumGrowth) implements Behaviour {

        @Override
        public GateTest test() {
            PairedImprovement gain = heldOut.improvement();
            GateTest normal = Behaviour.inDistribution(inDistribution, maximumGrowth);
            // Written so that NaN refuses.
            boolean better = gain.share() > 0.0 && gain.lower() > 0.0;
            return new GateTest(
                    GateTest.BEHAVIOUR,
                    better && normal.passed(),
                    "held-out KL %s: %s, expected an interval above 0; %s"
                            .formatted(heldOut.levels(), gain.describe(), normal.finding()));
        }
    }

    /** Says that there are no figures, and why: what cannot be checked is not published. */
    record Unknown(String reason) implements Behaviour {

        @Override
        public GateTest test() {
            return new GateTest(GateTest.BEHAVIOUR, false, "the model could not be run: " + reason);
        }
    }

    /** Returns the part of the test that needs no requests of the window. */
    static GateTest inDistribution(@Nullable Change change, double maximumGrowth) {
        if (change == null) {
            return new GateTest(
                    GateTest.BEHAVIOUR, true, "KL on normal traffic not measured: no requests of it were given");
        }
        return new GateTest(
                GateTest.BEHAVIOUR,
                change.after().value()
                        <= (1.0 + maximumGrowth) * change.before().value(),
                "on %d requests of normal traffic %s, may be %s of the trained decoder's"
                        .formatted(
                                change.improvement().requests(),
                                change.levels(),
                                String.format(Locale.ROOT, "%.0f %%", 100.0 * (1.0 + maximumGrowth))));
    }

    /** A mean over rows in nats, with the ends of its 95 % interval over requests. */
    record Level(double value, double low, double high) {

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.4f [%.4f, %.4f]", value, low, high);
        }
    }

    /**
     * The KL with one decoder and with another, on the same requests.
     *
     * @param improvement share of the KL that goes, over requests
     */
    record Change(Level before, Level after, PairedImprovement improvement) {

        String levels() {
            return "%s -> %s nats".formatted(before, after);
        }
    }
}
