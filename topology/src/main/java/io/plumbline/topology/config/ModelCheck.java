package io.plumbline.topology.config;

import io.plumbline.baseline.Baseline;
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
        Map<String, Threshold> units = new LinkedHashMap<>();
        config.sites().forEach((name, site) -> {
            String model = site.alarms().model();
            units.put(
                    model == null ? "site " + name : "model " + model,
                    site.alarms().threshold());
        });
        double perDay = 0.0;
        int promising = 0;
        for (Threshold threshold : units.values()) {
            if (threshold instanceof Threshold.FalseAlarms asked
                    && asked.budget() instanceof AlarmBudget.PerTime budget) {
                perDay += (double) budget.alarms() / budget.time().toMillis();
                promising++;
            }
        }
        return promising == 0
                ? Optional.empty()
                : Optional.of("asked of %s, the sites of a model being one: 1 false alarm in %s all together"
                        .formatted(Amounts.count(promising, "threshold"), Amounts.time(1.0 / perDay)));
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
                judged.add(new Site(
                        site.settings(),
                        site.explainer(),
                        WatchedSite.judgedAsOne(site.settings(), read, baselines),
                        site.problems()));
            } catch (IllegalArgumentException refused) {
                List<String> problems = new ArrayList<>(site.problems());
                problems.add("baseline: " + refused.getMessage());
                judged.add(new Site(site.settings(), site.explainer(), site.baseline(), problems));
            }
        }
        return judged;
    }
}
