package io.plumbline.topology.cli;

import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import io.plumbline.features.FailingFeature;
import io.plumbline.judgement.Amounts;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.report.FeatureName;
import io.plumbline.topology.report.Json;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Prints what {@code plumbline assess --features} says of features. */
record ListedFeatures(List<FailingFeature> failing, ActivityChanges activity, Map<Integer, FeatureName> names) {

    static ListedFeatures of(List<FailingFeature> failing, ActivityChanges activity, FeatureNames names) {
        return new ListedFeatures(
                failing,
                activity,
                names.of(IntStream.concat(
                        failing.stream().mapToInt(FailingFeature::feature),
                        activity.features().stream().mapToInt(ActivityChange::feature))));
    }

    void putInto(Answer answer) {
        answer.put("failing_features", Json.tree(failing));
        answer.put("feature_activity", Json.tree(activity));
        answer.put("feature_names", Json.tree(names));
    }

    void print(PrintWriter out) {
        out.println();
        out.println("feature  systematic residual  at least  in baseline  share of error  usefulness  in baseline"
                + "  activity  frequency  turned");
        for (FailingFeature feature : failing) {
            out.println(String.format(
                            Locale.ROOT,
                            "%7d  %19.5f  %8.5f  %11s  %14.5f  %10.5f  %11s  %8.5f  %9.4f  %6s",
                            feature.feature(),
                            feature.systematicResidual(),
                            feature.systematicResidualLow(),
                            orDash("%.5f", feature.systematicResidualBaseline()),
                            feature.shareOfError(),
                            feature.usefulness(),
                            orDash("%.5f", feature.usefulnessBaseline()),
                            feature.activity(),
                            feature.frequency(),
                            orDash("%.3f", feature.directionChange()))
                    + called(feature.feature()));
        }
        out.println();
        out.println(
                activity.undefined() == null
                        ? "%s compared: %d less active, %d more active than on the baseline's rows"
                                .formatted(
                                        Amounts.count(activity.tested(), "feature"),
                                        activity.lessActive(),
                                        activity.moreActive())
                        : "activity not compared: " + activity.undefined());
        for (ActivityChange change : activity.features()) {
            out.println(String.format(
                            Locale.ROOT,
                            "%7d  %s  active in %.5f, in baseline %.5f  mean activation %.4g, in baseline %.4g  p %s",
                            change.feature(),
                            change.direction().replace('_', ' '),
                            change.frequency(),
                            change.frequencyBaseline(),
                            change.meanActivation(),
                            change.meanActivationBaseline(),
                            change.pValueText())
                    + called(change.feature()));
        }
        out.flush();
    }

    private String called(int feature) {
        return called(names.get(feature));
    }

    /** Returns the label and the link of a feature as they stand behind its line. */
    static String called(@Nullable FeatureName name) {
        return name == null
                ? ""
                : (name.label() == null ? "" : "  " + name.label()) + (name.link() == null ? "" : "  " + name.link());
    }

    private static String orDash(String format, @Nullable Double value) {
        return value == null ? "-" : String.format(Locale.ROOT, format, value);
    }
}
