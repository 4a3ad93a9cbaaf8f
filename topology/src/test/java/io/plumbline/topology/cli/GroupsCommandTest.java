package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.groups.UnusualRequest;
import io.plumbline.groups.UnusualRequests;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.requests.RequestTotal;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests recorded German planted in later English, against the demonstration's baseline. */
class GroupsCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path folder;

    private static List<Matrix> english = List.of();
    private static List<Matrix> german = List.of();

    @BeforeAll
    static void readRecordings() throws IOException {
        for (String name : List.of(
                "cfg.json",
                "sae_weights.safetensors",
                "english.safetensors",
                "german.safetensors",
                "baseline.safetensors")) {
            try (InputStream resource = GroupsCommandTest.class.getResourceAsStream("/io/plumbline/fixtures/" + name)) {
                Files.copy(resource, folder.resolve(name));
            }
        }
        english = requests("english.safetensors");
        german = requests("german.safetensors");
    }

    private static List<Matrix> requests(String name) throws IOException {
        List<Matrix> requests = new ArrayList<>();
        try (ActivationFile file = ActivationFile.open(folder.resolve(name))) {
            for (int i = 0; i < file.requests(); i++) {
                requests.add(file.request(i).activations());
            }
        }
        return requests;
    }

    private static List<TrafficGroup> groups(RequestModel model, List<Matrix> clean, List<Matrix> foreign) {
        List<RequestTotal> totals = new ArrayList<>();
        for (Matrix request : clean) {
            totals.add(total(model, "english", totals.size(), request));
        }
        for (Matrix request : foreign) {
            totals.add(total(model, "german", totals.size(), request));
        }
        return TrafficGroup.of(UnusualRequests.of(model.groupSpace()).add(totals), null);
    }

    private static RequestTotal total(RequestModel model, String kind, int place, Matrix rows) {
        double[] sum = new double[model.projection().components()];
        model.projection().add(rows, sum);
        return new RequestTotal(place, kind + place, rows.rows(), sum);
    }

    private static RequestModel model() throws IOException {
        return Objects.requireNonNull(
                Baseline.read(folder.resolve("baseline.safetensors")).requests());
    }

    @Test
    void cleanStretchesHaveNoGroup() throws IOException {
        RequestModel model = model();
        for (int from = 0; from + 60 <= english.size(); from++) {
            assertEquals(List.of(), groups(model, english.subList(from, from + 60), List.of()), "from " + from);
        }
    }

    @Test
    void fewRequestsInAnotherLanguageAreOneGroupThatIsNearlyPure() throws IOException {
        RequestModel model = model();
        for (int planted : new int[] {4, 6, 12}) {
            int found = 0;
            int stretches = 0;
            for (int from = 0; from + planted <= german.size(); from += 3) {
                stretches++;
                List<TrafficGroup> groups = groups(model, english.subList(0, 60), german.subList(from, from + planted));
                if (groups.isEmpty()) {
                    continue;
                }
                found++;
                List<UnusualRequest> members = groups.get(0).members();
                long german = members.stream()
                        .filter(one -> one.label().startsWith("german"))
                        .count();
                assertTrue(german >= 0.9 * members.size(), "%d planted from %d: %s".formatted(planted, from, members));
            }
            assertTrue(found >= 0.9 * stretches, "%d planted: found in %d of %d".formatted(planted, found, stretches));
        }
    }

    @Test
    void theCommandPrintsTheGroupItsNearestRequestsAndItsFeatures() throws IOException {
        Path window = dump("window", english.subList(0, 54), german.subList(10, 16));
        JsonNode answer = JSON.readTree(assess("baseline.safetensors", window, "--groups", "--json"));
        JsonNode groups = answer.get("groups");
        assertEquals(1, groups.size(), groups.toString());
        JsonNode group = groups.get(0);
        assertTrue(group.get("requests").asInt() >= 5, group.toString());
        assertEquals(
                group.get("requests").asInt() / 60.0,
                group.get("share_of_requests").asDouble(),
                1e-9);
        assertEquals(1.0, group.get("share_of_evidence").asDouble(), 0.5);
        assertEquals("new", group.get("kind").asText());
        assertTrue(group.get("share_in_baseline").isNull());
        assertEquals(3, group.get("nearest_requests").size());
        group.get("nearest_requests").forEach(name -> assertTrue(name.asInt() >= 54, group.toString()));
        assertTrue(group.get("more_active").asInt() > 5, group.toString());
        JsonNode feature = group.get("more_active_features").get(0);
        assertTrue(feature.get("frequency").asDouble()
                > feature.get("frequency_baseline").asDouble());
        Path labels = Files.writeString(
                folder.resolve("labels.csv"),
                "feature,label\n%d,words of German\n"
                        .formatted(feature.get("feature").asInt()));
        String text = assess("baseline.safetensors", window, "--groups", "--labels", labels);
        assertTrue(text.contains("1 group of 3 or more that are like each other"), text);
        assertTrue(text.contains("new: the baseline has no group like it"), text);
        assertTrue(
                text.contains("nearest to the centre: "
                        + group.get("nearest_requests").get(0).asText()),
                text);
        assertTrue(text.lines().anyMatch(line -> line.endsWith("words of German")), text);
        assertFalse(assess("baseline.safetensors", window).contains("like each other"));
    }

    @Test
    void copiesInARecordingCountOnce() throws IOException {
        // Requests 0 and 1 of the recording are one text, 3 to 5 another.
        Path window = dump("copies", english.subList(0, 54), german.subList(0, 6));
        JsonNode group = JSON.readTree(assess("baseline.safetensors", window, "--groups", "--json"))
                .get("groups")
                .get(0);
        assertEquals(3, group.get("requests").asInt(), group.toString());
        assertEquals(0.1, group.get("share_of_requests").asDouble(), 1e-9);
        assertTrue(group.get("activity_undefined").asText().contains("rows of 3"), group.toString());
    }

    @Test
    void aKindThatTheBaselineHoldsIsKnownAndWithoutItNew() throws IOException {
        Path window = dump("later", english.subList(60, 73), german.subList(22, 42));
        for (int kept : new int[] {1, 4}) {
            build("known.safetensors", german.subList(21 - kept, 21));
            JsonNode known = JSON.readTree(assess("known.safetensors", window, "--groups", "--json"))
                    .get("groups")
                    .get(0);
            assertEquals("known", known.get("kind").asText(), known.toString());
            assertTrue(known.get("requests").asInt() > 15, known.toString());
            assertTrue(known.get("share_in_baseline").asDouble()
                    < known.get("share_of_requests").asDouble());
        }
        build("new.safetensors", List.of());
        JsonNode novel = JSON.readTree(assess("new.safetensors", window, "--groups", "--json"))
                .get("groups")
                .get(0);
        assertEquals("new", novel.get("kind").asText(), novel.toString());
        String text = assess("new.safetensors", window, "--groups");
        assertTrue(text.contains("new: the baseline has no group like it"), text);
    }

    @Test
    void aBaselineOfTooFewRequestsSaysWhyThereAreNoGroups() throws IOException {
        BaselineBuilder few = BaselineBuilder.of(Formats.read(folder), List.of(32), List.of());
        english.subList(0, 10).forEach(rows -> few.add(new ActivationBatch(rows, null, null)));
        few.build().write(folder.resolve("few.safetensors"));
        Path window = dump("short", english.subList(20, 30), List.of());
        assertTrue(assess("few.safetensors", window, "--groups")
                .contains("no groups of requests: " + RequestModel.MISSING));
        JsonNode answer = JSON.readTree(assess("few.safetensors", window, "--groups", "--json"));
        assertTrue(answer.get("groups").isNull());
        assertEquals(RequestModel.MISSING, answer.get("undefined").get("groups").asText());
    }

    private static void build(String name, List<Matrix> more) throws IOException {
        BaselineBuilder builder = BaselineBuilder.of(Formats.read(folder), List.of(32), List.of());
        english.subList(0, 60).forEach(rows -> builder.add(new ActivationBatch(rows, null, null)));
        more.forEach(rows -> builder.add(new ActivationBatch(rows, null, null)));
        builder.build().write(folder.resolve(name));
    }

    private static Path dump(String name, List<Matrix> first, List<Matrix> second) throws IOException {
        List<Matrix> all = new ArrayList<>(first);
        all.addAll(second);
        long[] offsets = new long[all.size() + 1];
        for (int i = 0; i < all.size(); i++) {
            offsets[i + 1] = offsets[i] + all.get(i).rows();
        }
        int width = all.get(0).columns();
        Matrix rows = Matrix.zeros((int) offsets[all.size()], width);
        IntStream.range(0, all.size())
                .forEach(i -> System.arraycopy(
                        all.get(i).values(),
                        0,
                        rows.values(),
                        (int) offsets[i] * width,
                        all.get(i).values().length));
        Path file = folder.resolve(name + ".safetensors");
        SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .addLongs("request_offsets", offsets)
                .writeTo(file);
        return file;
    }

    @Test
    void theRequestsOfAGroupAreWrittenWholeForTraining() throws IOException {
        Path window = dump("to-export", english.subList(0, 54), german.subList(10, 16));
        Path out = folder.resolve("group-1.safetensors");
        Shell written = export(window, 1, out);
        assertEquals(0, written.exitCode(), written.err());
        int exported = 0;
        try (ActivationFile file = ActivationFile.open(out)) {
            for (int i = 0; i < file.requests(); i++) {
                double[] rows = file.request(i).activations().values();
                assertTrue(
                        german.stream().anyMatch(request -> Arrays.equals(request.values(), rows)),
                        "request " + i + " is no request of German");
                exported++;
            }
        }
        assertTrue(exported >= 5, "requests: " + exported);
        assertTrue(
                assess("baseline.safetensors", window, "--groups").contains("group 1: " + exported + " requests"),
                "the number and size that assess lists");
        Shell again = export(window, 1, out);
        assertEquals(2, again.exitCode());
        assertTrue(again.err().contains("exists"), again.err());
        Shell none = export(window, 2, folder.resolve("none.safetensors"));
        assertEquals(2, none.exitCode());
        assertTrue(none.err().contains("--group = 2: these dumps have 1 group;"), none.err());
    }

    @Test
    void rowsThatTheBaselineWasMadeWithoutAreNotWritten() throws IOException {
        BaselineBuilder builder =
                BaselineBuilder.of(Formats.read(folder), List.of(32), List.of(), new MaskRules(List.of(), 10.0));
        List<ActivationBatch> clean = english.subList(0, 60).stream()
                .map(rows -> new ActivationBatch(rows, null, null))
                .toList();
        clean.forEach(builder::addNorms);
        clean.forEach(builder::add);
        builder.build().write(folder.resolve("capped.safetensors"));
        List<Matrix> longFirst = german.subList(10, 16).stream()
                .map(request -> {
                    Matrix rows = request.copy();
                    IntStream.range(0, rows.columns())
                            .forEach(column -> rows.set(0, column, 1_000.0 * rows.get(0, column)));
                    return rows;
                })
                .toList();
        Path window = dump("long-first-rows", english.subList(0, 54), longFirst);
        Path out = folder.resolve("capped-group.safetensors");
        Shell written = export("capped.safetensors", window, 1, out);
        assertEquals(0, written.exitCode(), written.err());
        try (ActivationFile file = ActivationFile.open(out)) {
            assertTrue(file.requests() >= 5, "requests: " + file.requests());
            for (int i = 0; i < file.requests(); i++) {
                double[] rows = file.request(i).activations().values();
                assertTrue(
                        german.stream()
                                .anyMatch(request -> Arrays.equals(
                                        Arrays.copyOfRange(
                                                request.values(), request.columns(), request.values().length),
                                        rows)),
                        "request " + i + " is not German without its first row");
            }
        }
    }

    private static Shell export(Path window, int group, Path out) {
        return export("baseline.safetensors", window, group, out);
    }

    private static Shell export(String baseline, Path window, int group, Path out) {
        return Shell.run(
                "export-training",
                "--explainer",
                folder,
                "--baseline",
                folder.resolve(baseline),
                "--activations",
                window,
                "--group",
                group,
                "--out",
                out);
    }

    private static String assess(String baseline, Path window, Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "assess",
                "--explainer",
                folder,
                "--baseline",
                folder.resolve(baseline),
                "--activations",
                window,
                "--rank",
                32,
                "--threshold-share",
                0.9));
        words.addAll(List.of(more));
        Shell shell = Shell.run(words.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        return shell.out();
    }
}
