package io.plumbline.topology.fuzz;

import io.plumbline.topology.assessment.AssessmentTargets;
import io.plumbline.topology.emission.EmissionTargets;
import io.plumbline.topology.ingest.IngestTargets;
import io.plumbline.topology.windows.WindowTargets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Lists everything that reads bytes of others. */
final class FuzzTargets {

    private FuzzTargets() {}

    /** @param folder for the targets that read files */
    static List<FuzzTarget> all(Path folder) throws IOException {
        List<FuzzTarget> targets = new ArrayList<>(IngestTargets.all());
        targets.addAll(OperatorTargets.all());
        targets.addAll(WindowTargets.all());
        targets.addAll(AssessmentTargets.all());
        targets.addAll(EmissionTargets.all());
        targets.addAll(FileTargets.all(folder));
        return targets;
    }

    /** The inputs of one target, where all of them share {@code total} by weight. */
    static int share(FuzzTarget target, List<FuzzTarget> all, int total) {
        int weights = all.stream().mapToInt(FuzzTarget::weight).sum();
        return Math.max(target.corpus().size(), (int) Math.ceil((double) total * target.weight() / weights));
    }
}
