package io.plumbline.topology.config;

import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.panes.WindowSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the entries under {@code models}: sites that are judged as one. */
final class ModelsReader {

    private static final Duration DEFAULT_WAIT = Duration.ofSeconds(30);

    /** A model, whose sites have no settings yet. */
    record Read(String model, List<String> sites, Threshold threshold, DriftPolicy debounce, Duration longestWait) {

        /** Returns the settings, with the target layers of sites that have several in place of these. */
        ModelSettings of(Map<String, List<String>> watched) {
            return new ModelSettings(
                    model,
                    sites.stream()
                            .flatMap(site -> watched.getOrDefault(site, List.of(site)).stream())
                            .toList(),
                    debounce,
                    longestWait);
        }
    }

    private final Map<String, Read> bySite = new LinkedHashMap<>();
    private final List<Read> models = new ArrayList<>();

    ModelsReader(ConfigNode root, WindowSettings window, Set<String> sites) {
        root.child("models").children().forEach((model, node) -> {
            if (model.isBlank() || model.chars().anyMatch(Character::isISOControl) || sites.contains(model)) {
                root.problem(
                        "models",
                        "expected names that no site has, without control characters, not \"%s\""
                                .formatted(model.replaceAll("\\p{Cntrl}", "?")));
            }
            DriftPolicy debounce = node.parsed("debounce", DriftPolicy.STANDARD, AlarmText::debounce);
            Threshold threshold = new ThresholdReader(
                            List.of(), 1, new AlarmLaw(debounce, window.size(), window.advance()))
                    .threshold(node, "threshold");
            if (!threshold.isCalibrated()) {
                node.problem(
                        "threshold",
                        "is one promise for sites whose statistics have units of their own: "
                                + "expected {false_alarms: 1 per 30d}");
            }
            Read read = new Read(model, node.texts("sites"), threshold, debounce, node.duration("wait", DEFAULT_WAIT));
            node.refuseUnknownKeys();
            if (read.sites().isEmpty()) {
                node.problem("sites", "is empty: expected the names of the sites, in the order of their layers");
            }
            for (String site : read.sites()) {
                if (!sites.contains(site)) {
                    node.problem("sites", site, "expected a name under sites");
                }
                Read other = bySite.put(site, read);
                if (other != null) {
                    node.problem("sites", site, "expected each site once, in one model");
                }
            }
            models.add(read);
        });
    }

    /** Returns the model that a site belongs to; null for none. */
    @Nullable
    Read of(String site) {
        return bySite.get(site);
    }

    /**
     * Returns the settings by name.
     *
     * @param watched the watched names of each site
     */
    Map<String, ModelSettings> settings(Map<String, List<String>> watched) {
        Map<String, ModelSettings> settings = new LinkedHashMap<>();
        models.forEach(model -> settings.put(model.model(), model.of(watched)));
        return settings;
    }
}
