package io.plumbline.judgement;

import java.time.Duration;

/** The number of false alarms that is acceptable at a site that has not drifted; a threshold is found from it. */
public sealed interface AlarmBudget {

    /** Returns what a site is held to where nothing else is written: 1 false alarm in 30 days. */
    static AlarmBudget standard() {
        return new PerTime(1, Duration.ofDays(30));
    }

    /**
     * Returns what each of several may do so that all of them together keep this.
     *
     * @param number 1 or more
     */
    AlarmBudget sharedBy(int number);

    /** Returns the budget as a person would say it: {@code 1 false alarm in 30 d}. */
    String sentence();

    /**
     * The largest share of clean windows that may lie above the level of any statistic, before debounce.
     *
     * @param rate in (0, 1)
     */
    record PerWindow(double rate) implements AlarmBudget {
        public PerWindow {
            if (!(rate > 0.0 && rate < 1.0)) {
                throw new IllegalArgumentException(("false-alarm rate = %s: expected a share in (0, 1); "
                                + "0.01 lets one clean window in a hundred pass the threshold")
                        .formatted(rate));
            }
        }

        @Override
        public AlarmBudget sharedBy(int number) {
            return new PerWindow(rate / number);
        }

        @Override
        public String sentence() {
            return "1 clean window in %s above the threshold".formatted(Amounts.number(1.0 / rate));
        }
    }

    /**
     * The largest number of times a clean site may be declared drifted in a stretch of event time, after debounce.
     *
     * @param alarms 1 or more
     * @param time positive
     */
    record PerTime(int alarms, Duration time) implements AlarmBudget {
        public PerTime {
            if (alarms < 1 || time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException(
                        "%d false alarms per %s: expected 1 or more per positive duration, such as 1 per 30d"
                                .formatted(alarms, time));
            }
        }

        /** Returns alarms per step of the windows. */
        double perAdvance(Duration advance) {
            return (double) alarms * advance.toMillis() / time.toMillis();
        }

        @Override
        public AlarmBudget sharedBy(int number) {
            return new PerTime(alarms, time.multipliedBy(number));
        }

        @Override
        public String sentence() {
            return "%d false alarm%s in %s"
                    .formatted(alarms, alarms == 1 ? "" : "s", Amounts.time((double) time.toMillis()));
        }
    }
}
