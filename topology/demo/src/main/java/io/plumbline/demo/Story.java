package io.plumbline.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.adaptation.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Remembers what was seen, and whether it is what the demonstration promises. */
final class Story {

    private final List<JsonNode> windows = new ArrayList<>();
    private final List<String> languages = new ArrayList<>();
    private final List<String> swaps = new CopyOnWriteArrayList<>();
    private @Nullable JsonNode adaptation;
    private @Nullable JsonNode revert;

    void window(String language, JsonNode report) {
        languages.add(language);
        windows.add(report);
    }

    void adaptation(JsonNode report) {
        adaptation = report;
    }

    void revert(JsonNode report) {
        revert = report;
    }

    /** Notes a decoder that the subscriber took into service. */
    void swap(String kind) {
        swaps.add(kind);
    }

    int swaps() {
        return swaps.size();
    }

    /** Returns what was promised and did not happen; empty when everything did. */
    List<String> missing() {
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < windows.size(); i++) {
            Verdict promised = languages.get(i).equals(Demo.GERMAN) ? Verdict.DRIFTED : Verdict.ALIGNED;
            String expected = promised.label();
            String verdict = windows.get(i).get("verdict").asText();
            if (!verdict.equals(expected)) {
                missing.add("window %d (%s) is %s, expected %s".formatted(i + 1, languages.get(i), verdict, expected));
            }
            JsonNode violated = windows.get(i).get("violated_bounds");
            if (violated == null || !violated.isEmpty()) {
                missing.add("window %d breaks a valid bound: %s".formatted(i + 1, violated));
            }
        }
        if (adaptation == null || !adaptation.get("outcome").asText().equals(Outcome.PUBLISHED.label())) {
            missing.add("no adapted decoder was published");
        }
        if (revert == null || !revert.get("outcome").asText().equals(Outcome.REVERTED.label())) {
            missing.add("the trained decoder was not restored");
        }
        if (!swaps.equals(List.of("adapted", "trained"))) {
            missing.add("the subscriber swapped in %s, expected adapted, then trained".formatted(swaps));
        }
        double german = mean(Demo.GERMAN, "faithfulness_gap", false);
        double english = mean(Demo.ENGLISH, "faithfulness_gap", false);
        if (!(german > english)) {
            missing.add("the gap did not rise: %.3f in English, %.3f in German".formatted(english, german));
        }
        return missing;
    }

    String summary() {
        if (adaptation == null || revert == null) {
            return "";
        }
        return String.format(
                Locale.ROOT,
                "On English the faithfulness gap was %.2f of at most %.0f; on German it rose to %.2f, and the site"
                        + " was declared%n"
                        + "drifted. Of %d candidates fitted on %d German rows, \"%s\"%n"
                        + "won on %d rows of other requests: FVU %.3f -> %.3f. It passed the gate and was published"
                        + " as version %d;%n"
                        + "a subscriber verified it and swapped it in. On the German windows that followed it left"
                        + " %.1f %% of the%n"
                        + "variance unexplained where the trained decoder leaves %.1f %%. When English returned, the"
                        + " gap fell to %.2f%n"
                        + "and the trained decoder was restored as version %d.",
                mean(Demo.ENGLISH, "faithfulness_gap", true),
                windows.get(0).get("largest_gap").asDouble(),
                mean(Demo.GERMAN, "faithfulness_gap", false),
                adaptation.get("candidates").size(),
                adaptation.get("fit_rows").asInt(),
                adaptation.get("candidate").asText(),
                adaptation.get("validation_rows").asInt(),
                adaptation.get("fvu_before").asDouble(),
                adaptation.get("fvu_after").asDouble(),
                adaptation.get("version").asInt(),
                100 * meanAdapted("reconstruction_fvu"),
                100 * meanAdapted("reconstruction_fvu_trained"),
                windows.get(windows.size() - 1).get("faithfulness_gap").asDouble(),
                revert.get("version").asInt());
    }

    private double mean(String language, String key, boolean beforeDrift) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < windows.size(); i++) {
            if (beforeDrift && !languages.get(i).equals(Demo.ENGLISH)) {
                break;
            }
            if (languages.get(i).equals(language)) {
                sum += windows.get(i).get(key).asDouble();
                count++;
            }
        }
        return sum / count;
    }

    private double meanAdapted(String key) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < windows.size(); i++) {
            if (languages.get(i).equals(Demo.GERMAN)
                    && windows.get(i).get("decoder_version").asInt() > 0) {
                sum += windows.get(i).get(key).asDouble();
                count++;
            }
        }
        return sum / count;
    }
}
