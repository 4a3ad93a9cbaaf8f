package io.plumbline.topology.fuzz;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.plumbline.topology.fuzz.Fuzz.Report;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the long form: a million inputs, of another seed each day unless {@code -Dplumbline.fuzz.seed} names one.
 * {@code -Dplumbline.fuzz.targets=torch} gives all of them to the targets with this word in their names.
 */
class FuzzSoak {

    private static final int INPUTS = Integer.getInteger("plumbline.fuzz.inputs", 1_000_000);

    @TempDir
    private static Path folder;

    @TestFactory
    List<DynamicTest> everyInputIsTakenOrRefusedWithASentence() throws IOException {
        long seed = Long.getLong(
                "plumbline.fuzz.seed", LocalDate.now(ZoneOffset.UTC).toEpochDay());
        String word = System.getProperty("plumbline.fuzz.targets", "");
        List<FuzzTarget> all = FuzzTargets.all(folder).stream()
                .filter(target -> target.name().contains(word))
                .toList();
        List<DynamicTest> tests = new ArrayList<>();
        for (FuzzTarget target : all) {
            tests.add(dynamicTest(target.name(), () -> {
                Report report = Fuzz.run(target, seed, FuzzTargets.share(target, all, INPUTS));
                System.out.println(report);
                assertTrue(report.valid() >= target.corpus().size() && report.valid() < report.inputs(), report + "");
            }));
        }
        return tests;
    }
}
