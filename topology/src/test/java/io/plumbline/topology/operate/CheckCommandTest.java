package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.CheckedSite;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.SigningKeys;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class CheckCommandTest extends CheckedSite {

    @Test
    void soundConfigurationIsFineAndShownAsATable() throws IOException {
        fittingExplainer("sae");
        Shell baseline = baseline("--window-rows", 64);
        assertEquals("", baseline.err());
        Shell shell = check("rank: 2, threshold: {quantile: 0.5}", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals("", shell.err());
        assertTrue(shell.out().matches("(?s).*layer\\.2 +standard +6>6 +9 +2 +2000 +ok\n.*"), shell.out());
        assertTrue(shell.out().endsWith("\nok\n"), shell.out());
        // 2 x 6 x 9 flops a row.
        assertTrue(
                shell.out()
                        .contains("layer.2: encoder: at most 2048 rows of a window, 0.000221 GFLOP, "
                                + "2.5e-06 s of one core"),
                shell.out());
    }

    @Test
    void anExplainerThatExplainsNothingOfTheBaselineIsWarnedOfInOneLine() throws IOException {
        String signs = ": the explainer explains less than nothing of these rows: FVU ";
        Shell baseline = baseline("--window-rows", 64, "--window-rows", 256);
        assertEquals(0, baseline.exitCode(), baseline.err());
        assertEquals(1, baseline.err().lines().count(), baseline.err());
        assertTrue(baseline.err().startsWith("WARNING: " + folder.resolve("base.safetensors") + signs), baseline.err());
        assertTrue(baseline.err().contains("probably of another hook or layer"), baseline.err());
        Shell shell = check("rank: 2, threshold: {quantile: 0.5}", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals(1, shell.err().lines().count(), shell.err());
        assertTrue(shell.err().startsWith("WARNING: site layer.2" + signs), shell.err());
        assertTrue(shell.out().endsWith("\nok, 1 warning\n"), shell.out());
    }

    @Test
    void aStatisticWhoseThresholdIsOutOfReachLeavesTheDecisionToTheOthers() throws IOException {
        Shell shell = check("rank: 2, trigger: [eta, reconstruction_fvu_trained]", "--offline");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(
                shell.out()
                        .contains("layer.2: reconstruction_fvu_trained cannot raise an alarm in windows of 64 rows: "),
                shell.out());
        assertTrue(shell.out().contains("more clean windows may lower it; eta decides\n"), shell.out());
    }

    @Test
    void thePromiseOfWindowsWithOtherRowsIsSaid() throws IOException {
        Shell one = check("rank: 2", "--offline");
        assertTrue(
                one.out()
                        .matches("(?s).*layer\\.2: a window in production is judged by the rows it holds, however long"
                                + " it is: the promise is that of 64 rows; "
                                + "with fewer than \\d+ rows it is undecided\n.*"),
                one.out());
        Shell baseline = baseline("--window-rows", 100, "--window-rows", 500);
        String several = "between two sizes the promise is the weaker of theirs, above 500 rows it is that of 500 rows;"
                + " with fewer than 64 rows it is undecided";
        assertTrue(baseline.out().contains(several), baseline.out());
        Shell check = check("rank: 2", "--offline");
        assertTrue(check.out().contains(several), check.out());
        assertFalse(check("rank: 2, threshold: 1.0", "--offline").out().contains("in production"));
    }

    @Test
    void aPromiseHoldsWhereTheCleanWindowsSufficeForIt() throws IOException {
        check("rank: 2, threshold: {false_alarms: 1 per 30d}", "--offline");
        assertTrue(checked().lacksPromise());
        check("rank: 2, threshold: {false_alarms: 1 per 1h}", "--offline");
        assertFalse(checked().lacksPromise());
        check("rank: 2, threshold: 1.0", "--offline");
        assertFalse(checked().lacksPromise());
    }

    private ConfigCheck.Site checked() throws IOException {
        return ConfigCheck.sites(MonitorConfig.load(folder.resolve("plumbline.yaml")))
                .get(0);
    }

    @Test
    void theHeapToSetComesFirstAndIsEnough() throws IOException {
        check("rank: 2, threshold: {quantile: 0.5}", "--offline");
        Path file = folder.resolve("plumbline.yaml");
        for (String[] deployed : new String[][] {{"1", "1"}, {"4", "1"}, {"8", "2"}}) {
            Object[] command = {
                "check",
                "--config",
                file,
                "--offline",
                "--partitions",
                deployed[0],
                "--instances",
                deployed[1],
                "--heap"
            };
            Shell there = Shell.run(with(command, "8g"));
            Matcher said = Pattern.compile(
                            "^memory: set -Xmx to .* MiB \\(PLUMBLINE_JAVA_OPTS=-Xmx(\\d+)m\\) for the monitor")
                    .matcher(there.out());
            assertTrue(said.find(), there.out());
            long heap = Long.parseLong(said.group(1));
            Shell set = Shell.run(with(command, heap + "m"));
            String backlog = "heap in which it also works off a backlog of such records";
            assertTrue(mebibytes(set, backlog) <= heap + 1, set.out());
            assertTrue(mebibytes(set, backlog) >= 0.95 * heap, set.out());
        }
    }

    private static Object[] with(Object[] command, Object last) {
        Object[] whole = Arrays.copyOf(command, command.length + 1);
        whole[command.length] = last;
        return whole;
    }

    @Test
    void whatFailsStandsBeforeWhatIsFine() throws IOException {
        check("rank: 7, threshold: 1.0", "--offline");
        StringWriter terminal = new StringWriter();
        CommandLine commandLine = Plumbline.commandLine();
        commandLine.setOut(new PrintWriter(terminal));
        commandLine.setErr(new PrintWriter(terminal));
        assertEquals(
                2,
                commandLine.execute(
                        "check", "--config", folder.resolve("plumbline.yaml").toString(), "--offline"));
        commandLine.getOut().flush();
        assertTrue(terminal.toString().startsWith("site layer.2: rank = 7"), terminal.toString());
        assertTrue(terminal.toString().contains("baseline rows"), terminal.toString());
    }

    @Test
    void quantileWithoutEnoughCleanWindowsIsAProblem() throws IOException {
        assertProblem("rank: 2, threshold: {quantile: 0.99}", "needs 99 clean windows of rank 2, the baseline has 16");
        assertProblem(
                "rank: 3, threshold: {quantile: 0.5}",
                "clean windows of rank 3, the baseline has 0 and others of rank 2; run `plumbline baseline --rank 3`, "
                        + "or set");
    }

    @Test
    void aRunLengthThatTheCleanWindowsCannotReachIsAProblem() throws IOException {
        String sequential = "rank: 2, threshold: 1.0, sequential: {statistics: [eta], average_run_length: %s}";
        Shell reached = check(sequential.formatted("90d"), "--offline");
        assertEquals(0, reached.exitCode(), reached.err());
        assertProblem(
                sequential.formatted("9000000000d"),
                "one false alarm of eta in 12960000000000 windows needs 27 clean windows of rank 2, "
                        + "the baseline has 16 and"
                        + " would not find a full drift in 30 windows; "
                        + "run `plumbline baseline --rank 2` with more rows");
    }

    @Test
    void aSiteThatMasksOtherRowsThanItsBaselineIsAProblem() throws IOException {
        assertProblem(
                "rank: 2, threshold: 1.0, mask: {token_ids: [5], norm_cap: 8}",
                "layer.2: mask = {token_ids: [5], norm_cap: 8.0}, but the baseline");
        assertProblem(
                "rank: 2, threshold: 1.0, mask: {token_ids: [5], norm_cap: 8}",
                "was made with none: windows would not be of the rows they are compared with; leave mask out, or run"
                        + " `plumbline baseline --mask-token-id 5 --mask-norm-cap 8.0`");
        Shell same = check("rank: 2, threshold: 1.0, mask: {}", "--offline");
        assertEquals(0, same.exitCode(), same.err());
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
    void rankAndThresholdMustFitTheWidth() throws IOException {
        assertProblem("rank: 7, threshold: 1.0", "rank = 7: expected less than 6");
        assertProblem("rank: 7, threshold: 1.0", "the gap of whole spaces is 0; 1 is usual");
        assertProblem(
                "threshold: 1.0", "how many leading directions to compare: 32, or a quarter of the width below 128");
        assertProblem("rank: 5, threshold: 2.0", "threshold = 2.0: expected less than 1.414");
        assertProblem(
                "rank: 2, threshold: 1.0, adaptation: {profile: paper, rank: 8, lambda_preservation: 1, "
                        + "lambda_geometric: 1}",
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
        assertTrue(shell.out().endsWith("\n2 mistakes\n"), shell.out());
    }

    @Test
    void mistakesInTheFileAreUsageErrorsWithoutAStack() throws IOException {
        Shell shell = check("rank: two, treshold: 1.0", "--offline");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("rank = two"), shell.err());
        assertTrue(shell.err().contains("did you mean threshold?"), shell.err());
        assertFalse(shell.err().contains("\tat "), shell.err());
        assertEquals("2 mistakes", shell.out().strip());
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
            {"monitor.consumer.fetch.min.bytes: many", "many for configuration fetch.min.bytes"},
            {"security.protocol: PLAIN", "PLAIN for configuration security.protocol"},
            {"producer.max.in.flight.requests.per.connection: 9", "max.in.flight.requests.per.connection"},
            {"metric.reporters: no.such.Reporter", "no.such.Reporter"},
            {"admin.retries: -7", "-7 for configuration retries"},
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
    void mistakesOfTheWebConfigurationAreCountedWithThoseBeforeAndAfterThem() throws IOException {
        check("rank: 9, threshold: 1.0", "--offline");
        Path file = folder.resolve("plumbline.yaml");
        Files.writeString(folder.resolve("web.yml"), "headers: {}\ntls_config: {}\n");
        Files.writeString(
                file, "\nhttp: {web_config: web.yml}\nsigning: {trusted: none.pub}\n", StandardOpenOption.APPEND);
        Shell shell = Shell.run("check", "--config", file, "--offline");
        assertEquals(2, shell.exitCode(), shell.err());
        for (String mistake : List.of("site layer.2: rank", "headers", "tls_config", "signing.trusted")) {
            assertTrue(shell.err().contains(mistake), shell.err());
        }
        assertTrue(shell.out().endsWith("\n4 mistakes, 1 warning\n"), shell.out());
    }

    @Test
    void aKeyThatCannotSignIsAProblemAndAMonitorNeedsNone() throws Exception {
        check("rank: 2, threshold: 1.0", "--offline");
        SigningKeys keys = SigningKeys.create(folder, "signing");
        Path file = folder.resolve("plumbline.yaml");
        Files.writeString(file, "\nsigning: {key: signing.pem, trusted: signing.pub}\n", StandardOpenOption.APPEND);
        Shell fine = Shell.run("check", "--config", file, "--offline");
        assertTrue(
                fine.out()
                        .matches("(?s).*decoders are taken that are signed by the key ([0-9a-f]{16})\n"
                                + "decoders are signed by the key \\1\n.*"),
                fine.out());
        Files.delete(keys.key());
        String missing = "signing.key = %s: the key cannot be read (NoSuchFileException)".formatted(keys.key());
        for (Shell shell :
                List.of(Shell.run("check", "--config", file, "--offline"), Shell.run("run", "--config", file))) {
            assertEquals(2, shell.exitCode(), shell.err());
            assertTrue(shell.err().contains(missing), shell.err());
        }
        Shell monitor = Shell.run("run", "--config", file, "--role", "monitor");
        assertFalse(monitor.err().contains("signing.key"), monitor.err());
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
        assertTrue(shell.err().contains("1 site needs a heap of at least"), shell.err());
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
}
