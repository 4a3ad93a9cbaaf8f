package io.plumbline.topology.cli;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.plumbline.comparison.ExplainerComparison;
import io.plumbline.comparison.FeatureSurvival;
import io.plumbline.comparison.Policy;
import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import io.plumbline.judgement.Amounts;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.cli.BehaviourProvider.OutputChange;
import io.plumbline.topology.report.FeatureName;
import io.plumbline.topology.report.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes what {@code plumbline compare} found, for people, programs and CI.
 *
 * @param output what the rest of the model makes of it; null where none is named, or rows have no partner
 * @param policy what became of its rules; empty where there is none
 * @param featureNames of those that are listed
 */
record CompareReport(
        @JsonUnwrapped ExplainerComparison comparison,
        @Nullable OutputChange output,
        List<Policy.Outcome> policy,
        Map<Integer, FeatureName> featureNames) {

    static CompareReport of(
            ExplainerComparison comparison,
            @Nullable OutputChange output,
            @Nullable Policy policy,
            FeatureNames names) {
        FeatureSurvival survival = comparison.features();
        ActivityChanges activity = comparison.activity();
        IntStream listed = survival != null
                ? survival.worst().stream().mapToInt(FeatureSurvival.Change::feature)
                : activity == null
                        ? IntStream.empty()
                        : activity.features().stream().mapToInt(ActivityChange::feature);
        return new CompareReport(
                comparison, output, policy == null ? List.of() : policy.judge(comparison), names.of(listed));
    }

    boolean passes() {
        return policy.stream().allMatch(Policy.Outcome::passed);
    }

    void print(PrintWriter out, boolean asJson) {
        (asJson ? List.of(Json.tree(this).toPrettyString()) : lines()).forEach(out::println);
        out.flush();
    }

    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("compared       " + compared());
        if (comparison.unmeasured() != null) {
            lines.add("not measured   " + comparison.unmeasured());
        }
        comparison
                .figures()
                .forEach((name, figure) -> lines.add(String.format(
                        Locale.ROOT, "%-13s  %9.5f  [%.5f, %.5f]", name, figure.value(), figure.low(), figure.high())));
        if (output != null && output.leftOut() > 0) {
            lines.add("kl             of %s; %d left out, of one row or with one that is not finite"
                    .formatted(Amounts.count(output.requests(), "request"), output.leftOut()));
        }
        comparison
                .probes()
                .forEach(probe -> lines.add(String.format(
                        Locale.ROOT,
                        "probe          %s: %.4f of the requests flip [%.4f, %.4f], %.4f above its threshold before and"
                                + " %.4f after",
                        probe.name(),
                        probe.flips().value(),
                        probe.flips().low(),
                        probe.flips().high(),
                        probe.rateBefore(),
                        probe.rateAfter())));
        addFeatures(lines);
        comparison.causes().forEach(cause -> lines.add("%-13s  %s".formatted(cause.kind(), cause.sentence())));
        policy.forEach(one -> lines.add("%-13s  %s: %s".formatted(verdict(one.passed()), one.rule(), one.sentence())));
        return lines;
    }

    private String compared() {
        String before = Amounts.count(comparison.requests().get(0), "request") + ", "
                + Amounts.count(comparison.rows().get(0), "row");
        return comparison.identical()
                ? before + ", identical to the bit: nothing is different"
                : comparison.unpaired() == null
                        ? before + ", paired"
                        : "%s before and %s after, not paired: %s"
                                .formatted(
                                        before, Amounts.count(comparison.rows().get(1), "row"), comparison.unpaired());
    }

    private void addFeatures(List<String> lines) {
        FeatureSurvival survival = comparison.features();
        ActivityChanges activity = comparison.activity();
        if (survival != null) {
            lines.add(String.format(
                    Locale.ROOT,
                    "features       %,d of %,d active ones survive, %,d are below 0.9 beyond chance",
                    survival.surviving(),
                    survival.active(),
                    survival.below()));
            survival.worst()
                    .forEach(change -> lines.add(String.format(
                            Locale.ROOT,
                            "%13d  correlation %.4f%s, active in %.5f before and %.5f after%s",
                            change.feature(),
                            change.correlation(),
                            change.beyondChance() ? "" : " (by chance?)",
                            change.frequencyBefore(),
                            change.frequencyAfter(),
                            ListedFeatures.called(featureNames.get(change.feature())))));
        } else if (activity != null && activity.undefined() == null) {
            lines.add(String.format(
                    Locale.ROOT,
                    "features       %,d compared: %,d less active, %,d more active",
                    activity.tested(),
                    activity.lessActive(),
                    activity.moreActive()));
            activity.features()
                    .forEach(change -> lines.add(String.format(
                            Locale.ROOT,
                            "%13d  active in %.5f before and %.5f after, p %s%s",
                            change.feature(),
                            change.frequencyBaseline(),
                            change.frequency(),
                            change.pValueText(),
                            ListedFeatures.called(featureNames.get(change.feature())))));
        }
    }

    private static String verdict(boolean passes) {
        return passes ? "passes" : "fails";
    }

    /** Returns the rules of the policy as JUnit's XML, which CI services show beside the tests of the build. */
    String junit() {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
                .append("<testsuite name=\"plumbline compare\" tests=\"%d\" failures=\"%d\">\n"
                        .formatted(
                                policy.size(),
                                policy.stream().filter(one -> !one.passed()).count()));
        for (Policy.Outcome one : policy) {
            String message =
                    one.sentence().replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
            xml.append("  <testcase classname=\"plumbline.compare\" name=\"%s\">%s</testcase>\n"
                    .formatted(one.rule(), one.passed() ? "" : "<failure message=\"%s\"/>".formatted(message)));
        }
        return xml.append("</testsuite>\n").toString();
    }

    /** Returns a summary as GitHub shows it on the page of a run. */
    String markdown() {
        StringBuilder text = new StringBuilder("### Plumbline compare")
                .append(policy.isEmpty() ? "" : ": " + verdict(passes()))
                .append("\n\n");
        policy.forEach(
                one -> text.append("* **%s** `%s`: %s%n".formatted(verdict(one.passed()), one.rule(), one.sentence())));
        return text.append("\n```\n")
                .append(String.join("\n", lines()))
                .append("\n```\n\n")
                .toString();
    }
}
