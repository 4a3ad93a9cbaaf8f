package io.plumbline.topology.cli;

import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.DriftVerdict;
import org.jspecify.annotations.Nullable;

/** Says how often a threshold alarms on clean traffic. */
final class AlarmRates {

    private static final double DAY_MS = 86_400_000.0;

    private AlarmRates() {}

    /** Says what the threshold comes to on clean traffic, where it is one of the clean values. */
    static void putInto(Answer answer, DriftVerdict verdict, AlarmLaw law) {
        Basis basis = basis(verdict);
        if (basis == null) {
            answer.putUndefined("days_per_false_alarm", "the threshold is not taken from clean windows");
            return;
        }
        Double alarmsPerDay = basis.alarmsPerDay();
        answer.put("false_alarm_rate", basis.windowRate())
                .put(
                        "days_per_false_alarm",
                        alarmsPerDay == null ? days(law, basis) : Double.valueOf(1.0 / alarmsPerDay));
    }

    /** Returns what the rate of a level that was not asked for by alarms comes to with this debounce. */
    private static double days(AlarmLaw law, Basis basis) {
        if (basis.confidence() != null || basis.clean() == Basis.Clean.REQUESTS) {
            return law.millisecondsBetween(law.alarmsGiven(basis.windowRate())) / DAY_MS;
        }
        int atOrAbove = (int) Math.round(basis.windowRate() * (basis.count() + 1));
        return law.millisecondsBetween(law.alarmsPerWindow(basis.count(), Math.max(1, atOrAbove))) / DAY_MS;
    }

    private static @Nullable Basis basis(DriftVerdict verdict) {
        if (verdict instanceof DriftVerdict.Aligned aligned) {
            return aligned.basis();
        }
        return verdict instanceof DriftVerdict.Drifted drifted ? drifted.basis() : null;
    }
}
