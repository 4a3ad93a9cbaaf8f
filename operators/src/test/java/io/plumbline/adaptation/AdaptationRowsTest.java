package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdaptationRowsTest {

    private static final int WIDTH = 2;

    @ParameterizedTest
    @CsvSource({"500, 1024", "2048, 1024", "3000, 1500", "6000, 2048"})
    void anchorsGrowWithTheRowsOfTheWindowUpToHalfOfWhatTheBaselineKeeps(int window, int anchors) {
        Encoder encoder = ReluEncoder.of(Matrix.identity(WIDTH), new double[WIDTH]);
        BaselineRows baseline = BaselineRows.of(encoder, rows(4_096), WIDTH);
        AdaptationRows found = AdaptationRows.of(encoder, SampleSplit.of(rows(window), 0.25), baseline, WIDTH);
        assertEquals(anchors, Objects.requireNonNull(found.anchor()).rows());
        assertEquals(2_048, Objects.requireNonNull(found.check()).rows());
    }

    /** Requests of a row each. */
    private static List<SampledRow> rows(int count) {
        List<SampledRow> rows = new ArrayList<>();
        for (int row = 0; row < count; row++) {
            rows.add(new SampledRow(row, row, row, new float[] {row, 1}, null));
        }
        return rows;
    }
}
