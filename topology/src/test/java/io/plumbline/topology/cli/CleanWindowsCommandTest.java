package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.baseline.Baseline;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests what {@code baseline} and {@code assess} say of clean windows and of thresholds. */
class CleanWindowsCommandTest extends CheckedSite {

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
        assertFalse(shell.out().contains("number 8 from the top"), "a reason is one clause: " + shell.out());
        Shell why = Shell.run(
                "assess",
                "--explainer",
                folder.resolve("sae"),
                "--baseline",
                folder.resolve("base.safetensors"),
                "--activations",
                folder.resolve("clean.safetensors"),
                "--threshold-quantile",
                0.5,
                "--verbose");
        assertTrue(why.out().contains("number 8 from the top of 16 clean windows of 64 rows"), why.out());
        assertTrue(why.out().matches("(?s).*\nrank +2\n.*"), "the baseline's rank: " + why.out());
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
                        .contains("layer.2: sequential: request_shift, 100 requests: "
                                + "ranks alone find a drift of about 16 %"
                                + " of the requests or more; smaller shares rest on a tail model\n"),
                shell.out());
    }

    @Test
    void assessJudgesAsASiteWithoutThresholdOrTriggerIsJudged() throws Exception {
        JsonNode standard = assess();
        assertEquals(
                "[\"faithfulness_gap\",\"reconstruction_fvu_trained\",\"request_evidence\",\"new_group\"]",
                standard.get("triggers").toString());
        assertTrue(
                standard.get("why").asText().contains("asked for 1 false alarm in 30 d, which needs 414 clean windows"),
                standard.toString());
        assertEquals(4, standard.get("statistics").size());
        assertEquals(
                standard.get("trigger").asText(),
                standard.get("reason").asText().split(" ", 2)[0],
                "the statistic that decides");
        JsonNode number = assess("--threshold", 1.0);
        assertEquals("[\"faithfulness_gap\"]", number.get("triggers").toString());
        JsonNode several = assess("--trigger", "eta", "--trigger", "residual_energy", "--threshold-quantile", 0.5);
        assertEquals("[\"eta\",\"residual_energy\"]", several.get("triggers").toString());
        assertTrue(several.get("why").asText().contains("2 statistics judged as one"), several.toString());
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
        Shell written = baseline();
        assertEquals(0, written.exitCode());
        assertTrue(written.out().contains("then `plumbline check` says"), written.out());
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
        assertTrue(shell.out().contains("; 1 false alarm in 1.38 h on average\n"), shell.out());
        assertTrue(
                shell.out().contains("layer.2: request_evidence is left out, since no clean window has it"),
                shell.out());
        assertTrue(
                shell.out()
                        .contains(
                                "layer.2: trigger: 1 false alarm in 30 d takes 414 clean windows of a size to keep it "
                                        + "on"
                                        + " average over baselines, 879 to keep it with 95 % confidence for this "
                                        + "baseline\n"),
                shell.out());
        Shell kept = check("rank: 2, threshold: {false_alarm_rate: 0.06}", "--offline");
        assertTrue(kept.out().contains("; 1 clean window in 17 above on average\n"), kept.out());
        Shell confident = check("rank: 2, threshold: {false_alarm_rate: 0.2}", "--offline");
        assertTrue(
                confident.out().contains("; 1 clean window in 5.86 above with 95 % confidence for this baseline\n"),
                confident.out());
        assertProblem(
                "rank: 3",
                "a promise about false alarms of faithfulness_gap, reconstruction_fvu_trained, "
                        + "request_evidence needs 1 clean windows of rank 3");
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
                2000 / Math.max(1.0, json.get("design_effect_second_moment").asDouble()),
                json.get("effective_rows").asDouble(),
                1e-9);
        JsonNode reconstruction = json.get("reconstruction_fvu_trained_min_median_max_rank_2_rows_64");
        assertEquals(3, reconstruction.size());
        assertTrue(reconstruction.get(0).asDouble() < reconstruction.get(1).asDouble());
        assertTrue(reconstruction.get(1).asDouble() < reconstruction.get(2).asDouble());
        assertEquals(
                "no clean window of that size has it",
                json.at("/undefined/request_evidence_min_median_max_rank_2_rows_64")
                        .asText());
        assertTrue(json.get("smallest_false_alarm_rate_rank_2_rows_5000").isNull());
        assertTrue(json.get("faithfulness_gap_median_rank_2_rows_5000").isNull());
        assertEquals(
                "0 clean windows of that size",
                json.get("undefined")
                        .get("faithfulness_gap_median_rank_2_rows_5000")
                        .asText());
    }

    @Test
    void whatABaselinePromisesStandsFirstAndARecordingGivenTwiceCountsOnce() {
        Shell shell = Shell.run(
                "baseline",
                "--explainer",
                folder.resolve("sae"),
                "--activations",
                folder.resolve("clean.safetensors"),
                folder.resolve("clean.safetensors"),
                "--rank",
                2,
                "--window-rows",
                64,
                "--out",
                folder.resolve("twice.safetensors"));
        assertEquals(0, shell.exitCode(), shell.err());
        List<String> lines = shell.out().lines().toList();
        assertEquals(
                "promise, windows of 64 rows, rank 2: at most 1 false alarm in 1.38 h on average; "
                        + "asked for 1 false alarm in"
                        + " 30 d, which needs 414 clean windows: collect 398 more, 25,472 rows",
                lines.get(0));
        assertEquals(
                "a window in production is judged by the rows it holds, however long it is: "
                        + "the promise is that of 64 rows;"
                        + " with fewer than 80 rows it is undecided",
                lines.get(1));
        assertTrue(lines.get(2).startsWith("measured: 2,000 rows, FVU "), shell.out());
        assertEquals(
                "counted once: 16 requests with 2,000 rows that the recording holds again, bit for bit", lines.get(3));
        assertEquals(5, lines.size(), shell.out());
    }

    private static double days(JsonNode json, String debounce) {
        return json.get("days_per_false_alarm_" + debounce + "_rank_2_rows_64").asDouble();
    }
}
