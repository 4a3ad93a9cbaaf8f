package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.moments.SampledRow;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the gate's test by KL in every setting of the whole set: {@code -Dplumbline.live=FOLDER}, minutes. */
@EnabledIfSystemProperty(named = "plumbline.live", matches = ".+")
class BehaviourSoak {

    private static final int RANK = 32;
    private static final int BASELINE_ROWS = 4_096;

    private static KlJudge judge(Explainer explainer, OnnxHead head, SiteStudy.Requests later, SiteStudy.Requests id) {
        return new KlJudge(explainer, head, later, null, id, DownstreamSettings.DEFAULT_MAXIMUM_GROWTH);
    }

    /** The requests from the 129th on are in no table. */
    @ParameterizedTest
    @CsvSource({
        "sae, java, 0, 128",
        "sae, kjv, 0, 128",
        "sae, spanish, 0, 128",
        "tc, java, 0, 128",
        "tc, kjv, 0, 128",
        "tc, spanish, 0, 128",
        "sae, java, 128, 192",
        "sae, kjv, 128, 192",
        "sae, spanish, 128, 192"
    })
    void autoIsBetterByKlInEverySetting(String site, String setting, int from, int to) throws Exception {
        Path live = CausalOracleSoak.folder();
        Explainer explainer = CausalOracleSoak.explainer(site);
        try (LiveModel model = LiveModel.whole(live);
                OnnxHead head = CausalOracleSoak.head(site)) {
            List<SampledRow> clean =
                    LiveRefits.sampled(explainer, model.requests("baseline", Integer.MAX_VALUE, explainer));
            int[] drawn = new Random(2026)
                    .ints(0, clean.size())
                    .distinct()
                    .limit(BASELINE_ROWS)
                    .sorted()
                    .toArray();
            LiveRefits refits = new LiveRefits(
                    explainer,
                    model.requests(setting + "_adapt", Integer.MAX_VALUE, explainer),
                    IntStream.of(drawn).mapToObj(clean::get).toList());
            GatedAdaptation auto = refits.auto(RANK);
            assertTrue(auto.publishes(), () -> auto.decision().reason());
            Behaviour found = judge(
                            explainer,
                            head,
                            model.requests(setting + "_eval", from, to, explainer),
                            model.requests("id_eval", 64, explainer))
                    .judge(
                            explainer.decoder(),
                            explainer.decoder(),
                            auto.search().decoder());
            System.out.printf("%s %s %d to %d: %s%n", site, setting, from, to, found.test());
            assertTrue(found.test().passed(), () -> found.test().finding());
        }
    }

    /** Compares the KL of refits that FVU passes with the oracle's values. */
    @ParameterizedTest
    @CsvSource({
        "sae, step1 96, gae_step1_r96",
        "sae, bias, bias",
        "tc, paper 3, gae_r3",
        "tc, step1 160, gae_step1",
        "tc, bias, bias"
    })
    void refitsThatFvuPassesHaveTheOraclesKl(String site, String refit, String method) throws Exception {
        Path live = CausalOracleSoak.folder();
        Explainer explainer = CausalOracleSoak.explainer(site);
        JsonNode later = new JsonMapper()
                .readTree(live.resolve("oracle/%s_spanish.json".formatted(site)).toFile());
        JsonNode normal = new JsonMapper()
                .readTree(live.resolve("oracle/%s_id.json".formatted(site)).toFile());
        try (LiveModel model = LiveModel.whole(live);
                OnnxHead head = CausalOracleSoak.head(site)) {
            Decoder proposed = new LiveRefits(
                            explainer, model.requests("spanish_adapt", Integer.MAX_VALUE, explainer), List.of())
                    .named(refit);
            Behaviour found = judge(
                            explainer,
                            head,
                            model.requests("spanish_eval", 128, explainer),
                            model.requests("id_eval", 128, explainer))
                    .judge(explainer.decoder(), explainer.decoder(), proposed);
            System.out.printf("%s %s: %s%n", site, refit, found.test());
            assertFalse(found.test().passed(), () -> found.test().finding());
            Behaviour.Measured measured = (Behaviour.Measured) found;
            assertEquals(kl(later, method), measured.heldOut().after().value(), 1e-4);
            assertEquals(
                    kl(normal, "spanish/" + method),
                    Objects.requireNonNull(measured.inDistribution()).after().value(),
                    2e-4);
        }
    }

    private static double kl(JsonNode oracle, String method) {
        return oracle.path("methods").path(method).path("kl").path("value").asDouble();
    }
}
