package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.SiteStudy.Ablating;
import io.plumbline.causal.heads.SiteStudy.Found;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Compares the metrics of whole requests with those of an implementation that shares no code with this one. */
class CausalOracleTest {

    private static OnnxHead head;
    private static Unembedding unembedding;

    @BeforeAll
    static void open() throws IOException {
        head = OnnxHead.open(new HeadLocation.InFile(LivePart.head()), HeadLimits.DEFAULTS.withThreads(1));
        unembedding = new Unembedding(OnnxInitializer.read(LivePart.head(), "wte.weight"));
    }

    @AfterAll
    static void close() {
        head.close();
    }

    @Test
    void anAutoencodersMetricsAreTheOracles() throws IOException {
        compare(LivePart.autoencoder(), head);
    }

    @Test
    void aTranscodersMetricsAreTheOracles() throws IOException {
        compare(LivePart.transcoder(), LivePart.summing(head));
    }

    private static void compare(LivePart part, Head head) throws IOException {
        JsonNode oracle = part.json("oracle.json");
        Map<String, Decoder> decoders = part.decoders();
        OracleComparison comparison = new OracleComparison();
        try (RequestFile requests = RequestFile.open(part.requests(), part.explainer())) {
            assertEquals(oracle.path("requests").asInt(), requests.count());
            for (FeatureRanking ranking : FeatureRanking.values()) {
                Map<String, List<Found>> found = new SiteStudy(
                                part.explainer(), head, new Ablating(ranking, unembedding, Integer.MAX_VALUE))
                        .run(requests, decoders, rows -> {});
                found.forEach((name, of) -> comparison.compare(
                        name, of, ranking, oracle.path("methods").path(name), oracle.path("target"), featureIds(part)));
            }
        }
        // The soak says as much of the whole set.
        assertTrue(comparison.values() > 100, comparison.toString());
    }

    private static long[] featureIds(LivePart part) {
        try {
            return part.featureIds();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void directLogitAttributionIsTheOracles() throws IOException {
        LivePart part = LivePart.autoencoder();
        JsonNode oracle = part.json("dla.json");
        Explainer explainer = part.explainer();
        List<Long> ids = Arrays.stream(part.featureIds()).boxed().toList();
        List<Integer> features = new ArrayList<>();
        oracle.path("top_features").forEach(id -> features.add(ids.indexOf(id.asLong())));
        for (String name : List.of("fixed", "auto")) {
            Decoder decoder = part.decoders().get(name);
            try (RequestFile requests = RequestFile.open(part.requests(), explainer)) {
                RequestStudy study = RequestStudy.of(explainer, head, requests.request(0), new double[192]);
                assertEquals(oracle.path("target").asInt(), study.target());
                if (name.equals("auto")) {
                    int[] ranked =
                            study.ablation(decoder, FeatureRanking.CAUSAL, null).ranked();
                    assertEquals(
                            features, List.of(ranked[0], ranked[1], ranked[2]), "the features of the largest effect");
                }
                Attribution found = Attribution.of(
                        decoder,
                        unembedding,
                        study.codes(),
                        63,
                        features,
                        study.target(),
                        ints(oracle.path("class_tokens")),
                        ints(oracle.path("control_tokens")));
                JsonNode theirs = oracle.path("decoders").path(name);
                assertArrayEquals(doubles(theirs.path("activations")), found.activations(), 1e-6);
                assertArrayEquals(doubles(theirs.path("dla_target")), found.toTarget(), 1e-6);
                assertArrayEquals(doubles(theirs.path("specificity")), found.specificity(), 1e-6);
                assertEquals(theirs.path("class_specificity").asDouble(), found.classSpecificity(), 1e-6);
                for (int i = 0; i < features.size(); i++) {
                    assertArrayEquals(doubles(theirs.path("dla_class").path(i)), found.toClass()[i], 1e-6);
                    assertArrayEquals(doubles(theirs.path("dla_control").path(i)), found.toControl()[i], 1e-6);
                }
            }
        }
    }

    @Test
    void theTokensOfATargetsClassAreOrderedAsTheyAreNearInTheUnembedding() throws IOException {
        JsonNode oracle = LivePart.autoencoder().json("dla.json");
        List<Integer> members = ints(oracle.path("class_tokens"));
        // The oracle left out tokens that begin no word.
        List<Integer> nearest =
                new ArrayList<>(unembedding.nearest(oracle.path("target").asInt(), 200));
        nearest.retainAll(members);
        assertEquals(members, nearest);
    }

    static List<Integer> ints(JsonNode array) {
        List<Integer> list = new ArrayList<>();
        array.forEach(one -> list.add(one.asInt()));
        return list;
    }

    private static double[] doubles(JsonNode array) {
        double[] values = new double[array.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.path(i).asDouble();
        }
        return values;
    }
}
