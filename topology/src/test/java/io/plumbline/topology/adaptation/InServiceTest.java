package io.plumbline.topology.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InServiceTest {

    private static final String SITE = "layer.2";

    private Active read;
    private Active late;
    private final List<Long> awaited = new ArrayList<>();
    private final InService inService = new InService(new ActiveDecoders() {
        @Override
        public Active of(String site) {
            return read;
        }

        @Override
        public Active awaitVersion(String site, long version) {
            awaited.add(version);
            return late;
        }
    });

    @Test
    void ourOwnLastWordCountsUntilItIsReadBackAndIsThenDropped() {
        read = active(1);
        Active ours = active(3);
        inService.forwarded(SITE, ours);
        assertSame(ours, inService.of(SITE, 3));
        read = active(2);
        assertSame(ours, inService.of(SITE, 3));
        read = active(3);
        assertSame(read, inService.of(SITE, 3));
        read = null;
        late = active(3);
        assertSame(late, inService.of(SITE, 3), "the copy was dropped");
    }

    @Test
    void aTaskThatComesFromElsewhereWaitsForTheVersionItCommitted() {
        read = active(4);
        late = active(5);
        assertSame(late, inService.of(SITE, 5));
        assertEquals(List.of(5L), awaited);
        late = read;
        assertSame(read, inService.of(SITE, 5), "what readers have, if it never comes");
    }

    private static Active active(long version) {
        return new Active(new Decoder(Matrix.zeros(2, 2), new double[2]), version);
    }
}
