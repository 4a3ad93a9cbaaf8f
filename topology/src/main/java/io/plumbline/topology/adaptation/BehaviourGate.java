package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.requests.WholeRequests;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Makes the judge of one attempt at a refit: by what the rest of the site's model does on whole requests.
 *
 * @param selectBy whether it also says which candidate to take
 * @param normal whole requests of the baseline; empty: what a refit does to normal traffic is not asked
 */
record BehaviourGate(BehaviourProbe probe, SelectBy selectBy, List<byte[]> normal) {

    BehaviourGate {
        normal = List.copyOf(normal);
    }

    /**
     * Holds out the requests whose sampled rows judge: these were not fitted on, and touch none in time that was. A
     * request without a sampled row may touch one, so it is not taken.
     */
    BehaviourJudge judge(SampleSplit split, List<WholeRequests.Kept> whole) {
        return probe.judge(
                of(split.judge(), whole), selectBy == SelectBy.KL ? of(split.choose(), whole) : null, normal);
    }

    private static List<byte[]> of(List<SampledRow> rows, List<WholeRequests.Kept> whole) {
        Set<Long> requests = rows.stream().map(SampledRow::request).collect(Collectors.toSet());
        return whole.stream()
                .filter(request -> requests.contains(request.group()))
                .map(WholeRequests.Kept::bytes)
                .toList();
    }
}
