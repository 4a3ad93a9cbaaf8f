package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.topology.adaptation.GateVerdict.Change;
import io.plumbline.topology.adaptation.GateVerdict.Columns;
import io.plumbline.topology.adaptation.GateVerdict.Improvement;
import io.plumbline.topology.adaptation.GateVerdict.InDistribution;
import io.plumbline.topology.report.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class GateVerdictTest {

    private static final String JSON = """
            {"tests":[],"improvement":0.5,"improvement_lower":0.25,"improvement_upper":null,"requests":7,\
            "largest_gap":2.0,"smallest_cosine":0.75,"smallest_norm_ratio":0.875,"largest_norm_ratio":1.5,\
            "features_beyond":3,"fvu_in_distribution_trained":0.125,"fvu_in_distribution_after":0.375,\
            "kl_before":4.0,"kl_after":3.0,"kl_improvement":0.0625,"kl_improvement_lower":null,\
            "kl_improvement_upper":0.03125,"kl_requests":5,"kl_in_distribution_trained":null,\
            "kl_in_distribution_after":6.0,"published_rows":11}""";

    @Test
    void theGroupsOfAVerdictAreKeysBesideEachOtherAndAreReadAgain() {
        GateVerdict verdict = new GateVerdict(
                List.of(),
                new Improvement(0.5, 0.25, null, 7),
                2.0,
                new Columns(0.75, 0.875, 1.5, 3),
                new InDistribution(0.125, 0.375),
                new Change(4.0, 3.0),
                new Improvement(0.0625, null, 0.03125, 5),
                new InDistribution(null, 6.0),
                11);
        byte[] json = Json.bytes(verdict);
        assertEquals(JSON, new String(json, StandardCharsets.UTF_8));
        assertEquals(verdict, Json.read(json, GateVerdict.class));
    }
}
