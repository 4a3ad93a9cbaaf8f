package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.calibration.Baseline;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckCommandTest {

    private static final int WIDTH = 6;
    private static final int FEATURES = 9;

    @TempDir
    private Path folder;

    @BeforeEach
    void makeSite() throws IOException {
        explainer("sae", 1);
        SafetensorsWriter.create()
                .add("activations", DType.F32, random(2, 2_000, WIDTH))
                .writeTo(folder.resolve("clean.safetensors"));
        Shell shell = baseline("--window-rows", 64);
        assertEquals(0, shell.exitCode(), shell.err());
    }

    @Test
    void soundConfigurationIsFineAndShownAsATable() throws IOException {
        Shell shell = check("rank: 2, threshold: {quantile: 0.5}", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals("", shell.err());
        assertTrue(shell.out().matches("(?s).*layer\\.2 +standard +6>6 +9 +2 +2000 +fine.*"), shell.out());
        // 2 x 6 x 9 flops a row.
        assertTrue(
                shell.out()
                        .contains(
                                "layer.2: encoder: at most 2048 rows of a window, 0.000221 GFLOP, 2.5e-06 s of one core"),
                shell.out());
    }

    @Test
    void quantileWithoutEnoughCleanWindowsIsAProblem() throws IOException {
        assertProblem("rank: 2, threshold: {quantile: 0.99}", "needs 99 clean windows of rank 2, the baseline has 16");
        assertProblem("rank: 3, threshold: {quantile: 0.5}", "clean windows of rank 3, the baseline has 0 and others of rank 2; run `plumbline baseline --rank 3`, or set");
    }

    @Test
    void aRunLengthThatTheCleanWindowsCannotReachIsAProblem() throws IOException {
        String sequential = "rank: 2, threshold: 1.0, sequential: {statistics: [eta], average_run_length: %s}";
        Shell reached = check(sequential.formatted("90d"), "--offline");
        assertEquals(0, reached.exitCode(), reached.err());
        assertProblem(
                sequential.formatted("9000000000d"),
                "one false alarm of eta in 12960000000000 windows needs 27 clean windows of rank 2, the baseline has 16 and"
                        + " would not find a full drift in 30 windows; run `plumbline baseline --rank 2` with more rows");
    }

    @Test
    void aSiteThatMasksOtherRowsThanItsBaselineIsAProblem() throws IOException {
        assertProblem(
                "rank: 2, threshold: 1.0, mask: {token_ids: [5], norm_cap: 8}",
                "layer.2: mask = {token_ids: [5], norm_cap: 8.0}, but the baseline");
        assertProblem(
                "rank: 2, threshold: 1.0, mask: {token_ids: [5], norm_cap: 8}",
                "was made with none: windows would not be of the rows they are compared with; write mask: {}, or run"
                        + " `plumbline baseline --mask-token-id 5 --mask-norm-cap 8.0`");
        Shell same = check("rank: 2, threshold: 1.0, mask: {}", "--offline");
        assertEquals(0, same.exitCode(), same.err());
    }

    @Test
    void aWindowOfManyTimesTheCalibratedRowsIsJudgedByTheLargestSize() {
        Shell shell = Shell.run(
                "assess",
                "--explainer",
                folder.resolve("sae"),
                "--baseline",
                folder.resolve("base.safetensors"),
                "--activations",
                folder.resolve("clean.safetensors"),
                "--rank",
                2,
                "--threshold-quantile",
                0.5);
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("number 8 from the top of 16 clean windows of 64 rows"), shell.out());
    }

    @Test
    void folderInsteadOfAFileIsCalledOne() {
        Shell shell = Shell.run("check", "--config", folder);
        assertEquals(2, shell.exitCode());
        assertEquals(
                "plumbline: " + folder + ": is a folder, not a configuration file",
                shell.err().strip());
    }

    @Test
    void calibratedSizesAreListed() throws IOException {
        Shell fine = check("rank: 2, threshold: {quantile: 0.5}", "--offline");
        assertTrue(fine.out().contains("layer.2: windows of 64 rows (16 clean): faithfulness_gap "), fine.out());
        // Windows of any more rows are judged by the largest size.
        Path file = folder.resolve("plumbline.yaml");
        Files.writeString(file, Files.readString(file).replace("minimum_rows: 64", "minimum_rows: 5000"));
        assertEquals(0, Shell.run("check", "--config", file, "--offline").exitCode());
    }

    @Test
    void aSizeWithTooFewCleanWindowsIsListedWithTheNextSmallerSizesThresholdOnOneShortLine() throws IOException {
        Shell baseline = baseline("--window-rows", 64, "--window-rows", 500);
        assertEquals(0, baseline.exitCode(), baseline.err());
        Shell shell = check("rank: 2, threshold: {quantile: 0.9}", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        List<String> lines = shell.out()
                .lines()
                .filter(line -> line.startsWith("layer.2: windows of "))
                .toList();
        assertEquals(2, lines.size(), shell.out());
        assertEquals(
                List.of("layer.2: windows of 500 rows (3 clean): too few, so the next smaller size's thresholds hold"),
                lines.subList(1, 2));
        assertTrue(lines.stream().allMatch(line -> line.length() <= 160), lines::toString);
    }

    @Test
    void whatShareOfDriftedRequestsTheBaselineSupportsIsSaid() throws IOException {
        SafetensorsWriter.create()
                .add("activations", DType.F32, random(2, 2_000, WIDTH))
                .addLongs(
                        "request_offsets",
                        LongStream.rangeClosed(0, 100)
                                .map(request -> 20 * request)
                                .toArray())
                .writeTo(folder.resolve("clean.safetensors"));
        Shell baseline = baseline("--window-rows", 64);
        assertEquals(0, baseline.exitCode(), baseline.err());
        Shell shell = check("rank: 2, sequential: {statistics: [request_shift]}", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(
                shell.out()
                        .contains(
                                "layer.2: sequential: request_shift, 100 requests: ranks alone find a drift of about 16 %"
                                        + " of the requests or more; smaller shares rest on a tail model\n"),
                shell.out());
    }

    @Test
    void assessJudgesAsASiteWithoutThresholdOrTriggerIsJudged() throws Exception {
        JsonNode standard = assess();
        assertEquals(
                "[\"faithfulness_gap\",\"reconstruction_fvu_trained\",\"request_fvu\"]",
                standard.get("triggers").toString());
        assertTrue(
                standard.get("reason")
                        .asText()
                        .contains("asked for 1 false alarm in 30 d, which needs 414 clean windows"),
                standard.toString());
        assertEquals(3, standard.get("statistics").size());
        assertEquals(
                standard.get("trigger").asText(),
                standard.get("reason").asText().split(" ", 2)[0],
                "the statistic that decides");
        JsonNode number = assess("--threshold", 1.0);
        assertEquals("[\"faithfulness_gap\"]", number.get("triggers").toString());
        JsonNode several = assess("--trigger", "eta", "--trigger", "residual_energy", "--threshold-quantile", 0.5);
        assertEquals("[\"eta\",\"residual_energy\"]", several.get("triggers").toString());
        assertTrue(several.get("reason").asText().contains("2 statistics judged as one"), several.toString());
    }

    @Test
    void assessRefusesOneNumberForSeveralStatistics() {
        Shell shell = shellOfAssess("--trigger", "eta", "--trigger", "residual_energy", "--threshold", 1.0);
        assertEquals(2, shell.exitCode(), shell.out());
        assertTrue(
                shell.err().contains("--threshold = 1.0: is in one statistic's own units, but --trigger names 2"),
                shell.err());
        assertTrue(shellOfAssess("--trigger", "etaa").err().contains("--trigger = etaa: expected one of"));
    }

    private JsonNode assess(Object... more) throws IOException {
        Shell shell = shellOfAssess(more);
        assertEquals(0, shell.exitCode(), shell.err());
        return new ObjectMapper().readTree(shell.out());
    }

    private Shell shellOfAssess(Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "assess",
                "--explainer",
                folder.resolve("sae"),
                "--baseline",
                folder.resolve("base.safetensors"),
                "--activations",
                folder.resolve("clean.safetensors"),
                "--rank",
                2,
                "--json"));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    private Shell baseline(Object... more) throws IOException {
        Files.deleteIfExists(folder.resolve("base.safetensors"));
        return baselineAgain(more);
    }

    private Shell baselineAgain(Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "baseline",
                "--explainer",
                folder.resolve("sae"),
                "--activations",
                folder.resolve("clean.safetensors"),
                "--rank",
                2,
                "--out",
                folder.resolve("base.safetensors")));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    @Test
    void aBaselineThatIsThereIsNotWrittenOver() throws IOException {
        byte[] before = Files.readAllBytes(folder.resolve("base.safetensors"));
        Shell shell = baselineAgain();
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("base.safetensors: exists already; name a file that does not"), shell.err());
        assertArrayEquals(before, Files.readAllBytes(folder.resolve("base.safetensors")));
    }

    /** Tests the full rank: the gap between two whole spaces is 0 whatever comes. */
    @Test
    void aRankAsLargeAsTheWidthIsRefused() throws IOException {
        Shell shell = baseline("--rank", WIDTH);
        assertEquals(2, shell.exitCode());
        assertTrue(
                shell.err().contains("--rank = %d: expected 1 to %d, less than the width".formatted(WIDTH, WIDTH - 1)),
                shell.err());
        assertEquals(0, baseline().exitCode());
        Shell check = check("rank: %d".formatted(WIDTH), "--offline");
        assertEquals(2, check.exitCode());
        assertTrue(
                check.err().contains("rank = %d: expected less than %d, the width".formatted(WIDTH, WIDTH)),
                check.err());
    }

    @Test
    void aPromiseThatTheCleanWindowsCannotKeepIsSaidAndRuns() throws IOException {
        Shell shell = check("rank: 2", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(
                shell.out()
                        .contains(
                                "; 1 false alarm in 1.38 h on average\nlayer.2: request_fvu is left out, since no clean window has it"),
                shell.out());
        assertTrue(
                shell.out()
                        .contains(
                                "layer.2: trigger: 1 false alarm in 30 d takes 414 clean windows of a size to keep it on"
                                        + " average over baselines, 879 to keep it with 95 % confidence for this baseline\n"),
                shell.out());
        Shell kept = check("rank: 2, threshold: {false_alarm_rate: 0.06}", "--offline");
        assertTrue(kept.out().contains("; 1 clean window in 17 above on average\n"), kept.out());
        Shell confident = check("rank: 2, threshold: {false_alarm_rate: 0.2}", "--offline");
        assertTrue(
                confident.out().contains("; 1 clean window in 5.86 above with 95 % confidence for this baseline\n"),
                confident.out());
        assertProblem(
                "rank: 3",
                "a promise about false alarms of faithfulness_gap, reconstruction_fvu_trained, request_fvu needs 1 clean windows of rank 3");
    }

    @Test
    void baselineShowsTheSpreadOfItsCleanWindows() throws Exception {
        Shell shell = Shell.run(
                "baseline",
                "--explainer",
                folder.resolve("sae"),
                "--activations",
                folder.resolve("clean.safetensors"),
                "--rank",
                2,
                "--window-rows",
                64,
                "--window-rows",
                5000,
                "--window-size",
                "10m",
                "--json",
                "--out",
                folder.resolve("again.safetensors"));
        JsonNode json = new ObjectMapper().readTree(shell.out());
        double[] clean = Baseline.read(folder.resolve("again.safetensors"))
                .samplesOf(2)
                .get(0)
                .values("faithfulness_gap");
        Arrays.sort(clean);
        assertEquals(16, json.get("clean_windows_rank_2_rows_64").asInt());
        assertEquals(
                clean[0], json.get("faithfulness_gap_minimum_rank_2_rows_64").asDouble());
        assertEquals(
                (clean[7] + clean[8]) / 2,
                json.get("faithfulness_gap_median_rank_2_rows_64").asDouble(),
                1e-15);
        assertEquals(
                clean[15], json.get("faithfulness_gap_maximum_rank_2_rows_64").asDouble());
        double mean = Arrays.stream(clean).average().orElseThrow();
        double squares = Arrays.stream(clean)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        assertEquals(
                Math.sqrt(squares / 15),
                json.get("faithfulness_gap_standard_deviation_rank_2_rows_64").asDouble(),
                1e-14);
        assertEquals(
                1.0 / 17, json.get("smallest_false_alarm_rate_rank_2_rows_64").asDouble(), 1e-15);
        // Seventeen windows of ten minutes, and with 2 of 3 one in 4/(17 18) - 6/(17 18 19).
        assertEquals(170 / 1440.0, days(json, "1_of_1"), 1e-12);
        assertEquals(10 / 1440.0 / (4.0 / (17 * 18) - 6.0 / (17 * 18 * 19)), days(json, "2_of_3"), 1e-12);
        assertEquals(125, json.get("mean_rows_rank_2_rows_64").asDouble());
        assertEquals(
                2000 / json.get("design_effect_second_moment").asDouble(),
                json.get("effective_rows").asDouble(),
                1e-9);
        JsonNode reconstruction = json.get("reconstruction_fvu_trained_min_median_max_rank_2_rows_64");
        assertEquals(3, reconstruction.size());
        assertTrue(reconstruction.get(0).asDouble() < reconstruction.get(1).asDouble());
        assertTrue(reconstruction.get(1).asDouble() < reconstruction.get(2).asDouble());
        assertEquals(
                "no clean window of that size has it",
                json.at("/undefined/request_fvu_min_median_max_rank_2_rows_64").asText());
        assertTrue(json.get("smallest_false_alarm_rate_rank_2_rows_5000").isNull());
        assertTrue(json.get("faithfulness_gap_median_rank_2_rows_5000").isNull());
        assertEquals(
                "0 clean windows of that size",
                json.get("undefined")
                        .get("faithfulness_gap_median_rank_2_rows_5000")
                        .asText());
    }

    private static double days(JsonNode json, String debounce) {
        return json.get("days_per_false_alarm_" + debounce + "_rank_2_rows_64").asDouble();
    }

    @Test
    void rankAndThresholdMustFitTheWidth() throws IOException {
        assertProblem("rank: 7, threshold: 1.0", "rank = 7: expected less than 6");
        assertProblem("rank: 5, threshold: 2.0", "threshold = 2.0: expected less than 1.414");
        assertProblem(
                "rank: 2, threshold: 1.0, adaptation: {profile: paper, rank: 8, lambda_preservation: 1, lambda_geometric: 1}",
                "adaptation.rank = 8: expected at most 6");
    }

    @Test
    void baselineOfAnotherDecoderIsAProblem() throws IOException {
        explainer("sae", 5);
        assertProblem("rank: 2, threshold: 1.0", "run `plumbline baseline` again");
    }

    @Test
    void missingFilesAreAllNamed() throws IOException {
        Files.delete(folder.resolve("base.safetensors"));
        Files.delete(folder.resolve("sae").resolve("sae_weights.safetensors"));
        Shell shell = check("rank: 2, threshold: 1.0", "--offline");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("sae_weights.safetensors is missing"), shell.err());
        assertTrue(shell.err().contains("baseline: no file"), shell.err());
        assertTrue(shell.out().contains("2 problems"), shell.out());
    }

    @Test
    void mistakesInTheFileAreUsageErrorsWithoutAStack() throws IOException {
        Shell shell = check("rank: two, treshold: 1.0", "--offline");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("rank = two"), shell.err());
        assertTrue(shell.err().contains("did you mean threshold?"), shell.err());
        assertFalse(shell.err().contains("\tat "), shell.err());
        Shell missing = Shell.run("check", "--config", folder.resolve("gone.yaml"));
        assertEquals(2, missing.exitCode());
        assertTrue(missing.err().contains("no such file or folder"), missing.err());
    }

    @Test
    void propertiesThatKafkaStreamsRefusesAreProblems() throws IOException {
        for (String[] refused : new String[][] {
            {"num.stream.threads: two", "two for configuration num.stream.threads"},
            {"monitor.num.stream.threads: 0", "properties of the monitor: num.stream.threads = 0"},
            {"adapter.commit.interval.ms: 900000", "properties of the adapter: "},
        }) {
            check("rank: 2, threshold: 1.0", "--offline");
            Path file = folder.resolve("plumbline.yaml");
            Files.writeString(
                    file, Files.readString(file).replace("\"127.0.0.1:1\"", "\"127.0.0.1:1\", " + refused[0]));
            for (Shell shell :
                    List.of(Shell.run("check", "--config", file, "--offline"), Shell.run("run", "--config", file))) {
                assertEquals(2, shell.exitCode(), shell.err());
                assertTrue(shell.err().contains(refused[1]), shell.err());
            }
        }
    }

    @Test
    void onlyAMissingActivationsTopicIsAProblem() throws IOException {
        check("rank: 2, threshold: 1.0", "--offline");
        MonitorConfig config = MonitorConfig.load(folder.resolve("plumbline.yaml"));
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        assertEquals(
                0,
                CheckCommand.checkTopics(
                        config, Set.of("activations"), new PrintWriter(out, true), new PrintWriter(err, true)));
        assertTrue(out.toString().contains("will make: adaptation-reports, "), out.toString());
        assertEquals("", err.toString());
        assertEquals(
                1,
                CheckCommand.checkTopics(
                        config, Set.of("decoders"), new PrintWriter(out, true), new PrintWriter(err, true)));
        assertTrue(err.toString().contains("topic \"activations\" does not exist at 127.0.0.1:1"), err.toString());
    }

    @Test
    void runStartsNothingWhenAFileIsMissing() throws IOException {
        check("rank: 2, threshold: 1.0", "--offline");
        Files.delete(folder.resolve("base.safetensors"));
        Shell shell = Shell.run("run", "--config", folder.resolve("plumbline.yaml"), "--role", "monitor");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("cannot run"), shell.err());
        assertTrue(shell.err().contains("baseline: no file"), shell.err());
    }

    @Test
    void printedDefaultIsTheFileThatLoads() {
        Shell shell = Shell.run("config", "--print-default");
        assertEquals(0, shell.exitCode());
        assertEquals(MonitorConfig.defaultFile(), shell.out());
    }

    private void assertProblem(String site, String sentence) throws IOException {
        Shell shell = check(site, "--offline");
        assertEquals(2, shell.exitCode(), shell.out());
        assertTrue(shell.err().contains(sentence), shell.err());
    }

    @Test
    void whatCannotFitTheHeapIsRefusedWithWhatToChange() throws IOException {
        Path wide = Files.createDirectories(folder.resolve("wide"));
        // No weights: what does not fit must be refused before they are read.
        Files.writeString(wide.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": 4096, "d_sae": 65536, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """);
        Path file = folder.resolve("wide.yaml");
        Files.writeString(file, """
                kafka: {bootstrap.servers: "127.0.0.1:1"}
                sites:
                  layer.2: {explainer: wide, baseline: base.safetensors, rank: 2, threshold: 1.0, adaptation: {mode: observe}}
                """);
        Shell shell = Shell.run("check", "--config", file, "--offline", "--heap", "3g");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("1 sites need a heap of at least"), shell.err());
        assertTrue(shell.err().contains("it has 3072 MiB; set PLUMBLINE_JAVA_OPTS=-Xmx"), shell.err());
        assertTrue(shell.err().contains("largest part is \"explainers\" with 20"), shell.err());
        Shell ample = Shell.run("check", "--config", file, "--offline", "--heap", "64g");
        assertFalse(ample.err().contains("need a heap"), ample.err());
        Shell typo = Shell.run("check", "--config", file, "--offline", "--heap", "4 gigabytes");
        assertEquals(2, typo.exitCode());
        assertTrue(typo.err().contains("--heap = 4 gigabytes: expected a size"), typo.err());
    }

    @Test
    void rowsOfASiteInAllPartitionsTakeAPaneInEach() throws IOException {
        check("rank: 2, threshold: {quantile: 0.5}", "--offline");
        Path file = folder.resolve("plumbline.yaml");
        Shell one = Shell.run("check", "--config", file, "--offline", "--partitions", "8");
        Shell spread = Shell.run("check", "--config", file, "--offline", "--partitions", "8", "--spread");
        assertEquals(
                8.0,
                mebibytes(spread, "open panes where rows are read") / mebibytes(one, "open panes where rows are read"),
                0.5);
        assertEquals(
                mebibytes(one, "open panes where windows are composed"),
                mebibytes(spread, "open panes where windows are composed"));
        Shell shared =
                Shell.run("check", "--config", file, "--offline", "--partitions", "8", "--spread", "--instances", "4");
        assertEquals(
                2.0,
                mebibytes(shared, "open panes where rows are read") / mebibytes(one, "open panes where rows are read"),
                0.2);
    }

    private static double mebibytes(Shell shell, String what) {
        return shell.out()
                .lines()
                .filter(line -> line.contains(what))
                .mapToDouble(line -> Double.parseDouble(
                        line.replace(what, "").replace("MiB", "").strip()))
                .findFirst()
                .orElseThrow(() -> new AssertionError(shell.out() + shell.err()));
    }

    private Shell check(String site, String option) throws IOException {
        Path file = folder.resolve("plumbline.yaml");
        Files.writeString(file, """
                kafka: {bootstrap.servers: "127.0.0.1:1"}
                window: {minimum_rows: 64}
                sites:
                  layer.2: {explainer: sae, baseline: base.safetensors, %s}
                """.formatted(site));
        return Shell.run("check", "--config", file, option);
    }

    private void explainer(String name, long seed) throws IOException {
        Path directory = Files.createDirectories(folder.resolve(name));
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, random(seed, WIDTH, FEATURES))
                .addVector("b_enc", DType.F32, new double[FEATURES])
                .add("W_dec", DType.F32, random(seed + 1, FEATURES, WIDTH))
                .addVector("b_dec", DType.F32, new double[WIDTH])
                .writeTo(directory.resolve("sae_weights.safetensors"));
        Files.writeString(directory.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(WIDTH, FEATURES));
    }

    private static Matrix random(long seed, int rows, int columns) {
        Random random = new Random(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            // Columns of different spread, so that every subspace is identified.
            matrix.values()[i] = random.nextGaussian() * (1 + i % columns);
        }
        return matrix;
    }
}
