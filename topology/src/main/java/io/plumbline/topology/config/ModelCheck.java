package io.plumbline.topology.config;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Threshold;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.ConfigCheck.Site;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks what sites are as parts of models, and says what all promises come to. */
public final class ModelCheck {

    private ModelCheck() {}

    /**
     * Returns what the whole configuration asks for, in one sentence; empty where no site has a promise about false
     * alarms over time.
     */
    public static Optional<String> promise(MonitorConfig config) {
        Map<String, Threshold> promises = new LinkedHashMap<>();
        config.sites().forEach((name, site) -> {
            String model = site.alarms().model();
            String unit = model == null ? "site " + name : "model " + model;
            promises.put(unit, site.alarms().threshold());
            if (site.alarms().triggers().stream().anyMatch(DriftJudge::isNewGroup)) {
                promises.put("new groups of " + unit, site.alarms().threshold());
            }
        });
        List<AlarmBudget.PerTime> budgets = promises.values().stream()
                .filter(Threshold.FalseAlarms.class::isInstance)
                .map(threshold -> ((Threshold.FalseAlarms) threshold).budget())
                .filter(AlarmBudget.PerTime.class::isInstance)
                .map(AlarmBudget.PerTime.class::cast)
                .toList();
        double alarmsPerMs = budgets.stream()
                .mapToDouble(one -> (double) one.alarms() / one.time().toMillis())
                .sum();
        return budgets.isEmpty()
                ? Optional.empty()
                : Optional.of(("asked for by %s, the sites of a model being one and new groups another: "
                                + "1 false alarm in %s all together")
                        .formatted(Amounts.count(budgets.size(), "promise"), Amounts.time(1.0 / alarmsPerMs)));
    }

    /** Gives the sites of a model what the others have in the same clean windows. */
    static List<Site> judgedAsOne(List<Site> sites) {
        List<SiteSettings> read = new ArrayList<>();
        Map<String, Baseline> baselines = new LinkedHashMap<>();
        sites.forEach(site -> {
            if (site.baseline() != null) {
                read.add(site.settings());
                baselines.put(site.settings().site(), site.baseline());
            }
        });
        List<Site> judged = new ArrayList<>();
        for (Site site : sites) {
            if (site.baseline() == null) {
                judged.add(site);
                continue;
            }
            try {
                judged.add(site.with(WatchedSite.judgedAsOne(site.settings(), read, baselines)));
            } catch (IllegalArgumentException refused) {
                judged.add(site.and("baseline: " + refused.getMessage()));
            }
        }
        return judged;
    }
}
