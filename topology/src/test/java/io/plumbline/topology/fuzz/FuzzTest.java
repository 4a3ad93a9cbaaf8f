package io.plumbline.topology.fuzz;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.plumbline.topology.fuzz.Fuzz.Report;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Runs the short form, in every build: the same inputs each time. */
class FuzzTest {

    /** The folder of inputs that once broke something, a folder a target, as {@link Fuzz#joined} writes them. */
    static final String REGRESSIONS = "io/plumbline/topology/fuzz/regressions";

    private static final long SEED = 20_261_121;
    private static final int INPUTS = 20_000;

    @TempDir
    private static Path folder;

    @TestFactory
    List<DynamicTest> everyInputIsTakenOrRefusedWithASentence() throws IOException {
        List<FuzzTarget> all = FuzzTargets.all(folder);
        List<DynamicTest> tests = new ArrayList<>();
        for (FuzzTarget target : all) {
            tests.add(dynamicTest(target.name(), () -> {
                Report report = Fuzz.run(target, SEED, FuzzTargets.share(target, all, INPUTS));
                assertTrue(report.valid() >= target.corpus().size() && report.valid() < report.inputs(), report + "");
            }));
        }
        return tests;
    }

    @TestFactory
    List<DynamicTest> inputsThatOnceBrokeSomethingDoSoNoMore() throws Exception {
        List<DynamicTest> tests = new ArrayList<>();
        for (FuzzTarget target : FuzzTargets.all(folder)) {
            for (Path kept : kept(target)) {
                tests.add(dynamicTest(target + " " + kept.getFileName(), () -> Fuzz.replay(target, kept)));
            }
        }
        assertFalse(tests.isEmpty(), "no regressions were found");
        return tests;
    }

    private static List<Path> kept(FuzzTarget target) throws Exception {
        URL url = FuzzTest.class.getClassLoader().getResource(REGRESSIONS);
        assertNotNull(url, REGRESSIONS);
        Path own = Path.of(url.toURI()).resolve(target.name().replace(' ', '-'));
        if (!Files.isDirectory(own)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(own)) {
            return files.sorted().toList();
        }
    }
}
