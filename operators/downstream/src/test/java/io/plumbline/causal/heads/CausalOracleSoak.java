package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.SiteStudy.Ablating;
import io.plumbline.causal.heads.SiteStudy.Found;
import io.plumbline.causal.heads.Sums.Of;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares every value of the whole oracle: {@code -Dplumbline.live=FOLDER}, some ten minutes on two cores. */
@EnabledIfSystemProperty(named = "plumbline.live", matches = ".+")
class CausalOracleSoak {

    private static final JsonMapper JSON = new JsonMapper();
    private static final int REQUESTS = 128;

    private static Path live;
    private static Unembedding unembedding;

    @BeforeAll
    static void open() throws IOException {
        live = folder();
        unembedding = new Unembedding(OnnxInitializer.read(live.resolve("model/head_sae.onnx"), "wte.weight"));
    }

    static Path folder() {
        return Path.of(System.getProperty("plumbline.live"));
    }

    static Explainer explainer(String site) throws IOException {
        return Formats.read(folder().resolve("explainers").resolve(site.equals("sae") ? "sae" : "transcoder"));
    }

    static OnnxHead head(String site) {
        return OnnxHead.open(
                new HeadLocation.InFile(folder().resolve("model")
                        .resolve(site.equals("sae") ? "head_sae.onnx" : "head_transcoder.onnx")),
                HeadLimits.DEFAULTS);
    }

    /** Returns the decoders of a table that are in the folder; a name may have a setting and a slash before it. */
    private static Map<String, Decoder> decoders(String site, String setting, JsonNode methods) throws IOException {
        Explainer explainer = explainer(site);
        Map<String, Decoder> decoders = new LinkedHashMap<>();
        for (String name : methods.properties().stream().map(Map.Entry::getKey).toList()) {
            Path file =
                    live.resolve("decoders").resolve(site).resolve(name.contains("/") ? name : setting + "/" + name);
            Path tensors = file.resolveSibling(file.getFileName() + ".safetensors");
            if (name.equals("fixed")) {
                decoders.put(name, explainer.decoder());
            } else if (Files.exists(tensors)) {
                decoders.put(name, LivePart.refit(tensors, explainer));
            }
        }
        return decoders;
    }

    @ParameterizedTest
    @CsvSource({"sae,id", "sae,java", "sae,kjv", "sae,spanish", "tc,id", "tc,java", "tc,kjv", "tc,spanish"})
    void everyValueOfARecordedRequestIsTheOracles(String site, String setting) throws IOException {
        JsonNode oracle = JSON.readTree(live.resolve("oracle/prompts_%s_%s.json".formatted(site, setting))
                .toFile());
        Explainer explainer = explainer(site);
        long[] ids = IntStream.range(0, explainer.features()).asLongStream().toArray();
        OracleComparison comparison = new OracleComparison();
        Path recording = live.resolve("recordings/%s/%s_eval.safetensors".formatted(site, setting));
        try (OnnxHead head = head(site);
                RequestFile requests = RequestFile.open(recording, explainer)) {
            Map<String, Decoder> decoders = decoders(site, setting, oracle.path("methods"));
            assertEquals(oracle.path("methods").size(), decoders.size());
            for (FeatureRanking ranking : FeatureRanking.values()) {
                new SiteStudy(explainer, head, new Ablating(ranking, unembedding, Integer.MAX_VALUE))
                        .run(requests, decoders, rows -> {})
                        .forEach((name, found) -> comparison.compare(
                                name, found, ranking, oracle.path("methods").path(name), oracle.path("target"), ids));
            }
        }
        System.out.printf("%s %s: %s%n", site, setting, comparison);
    }

    /** Computes the rows from token ids by the model's own first half; the values are rounded to seven digits. */
    @ParameterizedTest
    @CsvSource({"sae,id", "sae,java", "sae,kjv", "sae,spanish", "tc,id", "tc,java", "tc,kjv", "tc,spanish"})
    void theTablesOfAllRequestsAreTheOracles(String site, String setting) throws Exception {
        JsonNode oracle = JSON.readTree(
                live.resolve("oracle/%s_%s.json".formatted(site, setting)).toFile());
        Explainer explainer = explainer(site);
        try (OnnxHead head = head(site);
                LiveModel model = LiveModel.whole(live)) {
            SiteStudy.Requests requests = model.requests(setting + "_eval", REQUESTS, explainer);
            Map<String, List<Found>> found = new SiteStudy(explainer, head, null)
                    .run(requests, decoders(site, setting, oracle.path("per_request")), rows -> {});
            double furthest = 0.0;
            for (Map.Entry<String, List<Found>> one : found.entrySet()) {
                JsonNode values = oracle.path("per_request").path(one.getKey());
                for (int i = 0; i < REQUESTS; i++) {
                    Sums sums = one.getValue().get(i).sums();
                    String where = "%s, request %d".formatted(one.getKey(), i);
                    double rows = sums.get(Of.ROWS);
                    assertEquals(
                            values.path("ce_original").path(i).asDouble(),
                            sums.get(Of.CE_ORIGINAL),
                            1e-4 * rows,
                            where);
                    assertEquals(
                            values.path("ce_patched").path(i).asDouble(), sums.get(Of.CE_PATCHED), 1e-4 * rows, where);
                    assertEquals(values.path("ce_zero").path(i).asDouble(), sums.get(Of.CE_ZERO), 1e-4 * rows, where);
                    assertEquals(values.path("kl").path(i).asDouble(), sums.get(Of.KL), 1e-4 * rows, where);
                    assertEquals(
                            1.0, sums.get(Of.ERROR) / values.path("sse").path(i).asDouble(), 1e-4, where);
                    assertEquals(
                            1.0, sums.get(Of.SPREAD) / values.path("ss").path(i).asDouble(), 1e-4, where);
                    furthest = Math.max(
                            furthest, Math.abs(values.path("kl").path(i).asDouble() - sums.get(Of.KL)) / rows);
                }
                compareTable(
                        one.getKey(), one.getValue(), oracle.path("methods").path(one.getKey()));
            }
            System.out.printf(
                    "%s %s: %d decoders of %d requests, KL within %.1e%n",
                    site, setting, found.size(), REQUESTS, furthest);
        }
    }

    private static void compareTable(String name, List<Found> found, JsonNode table) {
        RequestBootstrap bootstrap =
                RequestBootstrap.of(found.stream().map(Found::sums).toList());
        for (Metric metric : List.of(
                Metric.CE_ORIGINAL,
                Metric.CE_PATCHED,
                Metric.DELTA_CE,
                Metric.ABS_DELTA_CE,
                Metric.LOSS_RECOVERED,
                Metric.MEAN_ABS_DELTA_CE_BY_REQUEST,
                Metric.KL,
                Metric.TOP1_AGREEMENT,
                Metric.FVU,
                Metric.L0)) {
            JsonNode cell = table.path(metric.key());
            assertTrue(cell.path("value").isNumber(), name + ": the oracle has no " + metric.key());
            Interval ours = bootstrap.interval(metric::of);
            double expected = cell.path("value").asDouble();
            assertEquals(expected, ours.value(), 1e-4 * Math.max(1.0, Math.abs(expected)), name + ": " + metric.key());
            // Other draws: the ends of an interval move by some tenth of its width.
            double low = cell.path("interval").path(0).asDouble();
            double high = cell.path("interval").path(1).asDouble();
            double tolerance = 0.12 * (high - low) + 1e-6;
            assertEquals(low, ours.low(), tolerance, name + ": low end of " + metric.key());
            assertEquals(high, ours.high(), tolerance, name + ": high end of " + metric.key());
        }
    }

    @Test
    void everyTableOfAttributionsIsTheOracles() throws IOException {
        try (var files = Files.newDirectoryStream(live.resolve("dla"), "*.json")) {
            for (Path file : files) {
                JsonNode oracle = JSON.readTree(file.toFile());
                String site = oracle.path("site").asText();
                String setting = oracle.path("setting").asText();
                Explainer explainer = explainer(site);
                Path recording = live.resolve("recordings/%s/%s_eval.safetensors".formatted(site, setting));
                try (OnnxHead head = head(site);
                        RequestFile requests = RequestFile.open(recording, explainer)) {
                    RequestStudy study = RequestStudy.of(
                            explainer,
                            head,
                            requests.request(oracle.path("request").asInt()),
                            new double[explainer.targetWidth()]);
                    assertEquals(oracle.path("target").asInt(), study.target());
                    decoders(site, setting, oracle.path("decoders"))
                            .forEach((name, decoder) -> compare(oracle, name, decoder, study));
                }
            }
        }
    }

    private static void compare(JsonNode oracle, String name, Decoder decoder, RequestStudy study) {
        Attribution found = Attribution.of(
                decoder,
                unembedding,
                study.codes(),
                study.codes().rows() - 1,
                CausalOracleTest.ints(oracle.path("top_features")),
                study.target(),
                CausalOracleTest.ints(oracle.path("class_tokens")),
                CausalOracleTest.ints(oracle.path("control_tokens")));
        JsonNode theirs = oracle.path("decoders").path(name);
        for (int i = 0; i < found.features().size(); i++) {
            assertEquals(theirs.path("dla_target").path(i).asDouble(), found.toTarget()[i], 1e-5, name);
            assertEquals(theirs.path("specificity").path(i).asDouble(), found.specificity()[i], 1e-5, name);
        }
        assertEquals(theirs.path("class_specificity").asDouble(), found.classSpecificity(), 1e-5, name);
        System.out.printf(
                "%s %s %s: class specificity %.2f%n",
                oracle.path("site").asText(), oracle.path("setting").asText(), name, found.classSpecificity());
    }
}
