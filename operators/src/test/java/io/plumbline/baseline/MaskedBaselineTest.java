package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.MaskedRows;
import io.plumbline.records.ActivationBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The requests of {@link BaselineTest} with special rows put in between. */
class MaskedBaselineTest {

    @Test
    void aMaskedBaselineIsThatOfTheRowsThatRemain(@TempDir Path folder) throws IOException {
        MaskRules rules = new MaskRules(List.of(102L, 101L), 4.0);
        BaselineBuilder masking = masking(rules, false);
        Baseline masked = windows(masking, false);
        Baseline clean = BaselineTest.build(12);

        assertEquals(new MaskedRows(24, 0), masking.masked());
        assertArrayEquals(clean.moment().state(), masked.moment().state());
        assertEquals(clean.reconstructionFvu(), masked.reconstructionFvu());
        assertEquals(clean.samples().size(), masked.samples().size());
        clean.samples().forEach(sample -> sample.statistics().forEach((statistic, values) -> {
            if (!statistic.equals(NullSample.IDENTITY)) {
                assertArrayEquals(
                        values,
                        masked.sample(BaselineTest.RANK, sample.rowsPerWindow())
                                .orElseThrow()
                                .values(statistic),
                        statistic);
            }
        }));

        Path file = folder.resolve("baseline.safetensors");
        masked.write(file);
        assertEquals(masked.masking(), Baseline.read(file).masking());
        assertEquals(new MaskRules(List.of(101L, 102L), 4.0), masked.masking().rules());
    }

    @Test
    void sitesWithOtherRowsThatAreTooLongHaveTheSameWindows() {
        BaselineBuilder capping = masking(new MaskRules(List.of(101L, 102L), 4.0), true);
        Baseline capped = windows(capping, true);
        Baseline whole = windows(masking(new MaskRules(List.of(101L, 102L), null), true), true);

        assertEquals(12, capping.masked().byNorm());
        assertEquals(whole.samples().size(), capped.samples().size());
        for (NullSample sample : whole.samples()) {
            NullSample other =
                    capped.sample(BaselineTest.RANK, sample.rowsPerWindow()).orElseThrow();
            assertArrayEquals(sample.series(NullSample.IDENTITY), other.series(NullSample.IDENTITY));
            assertTrue(other.meanRows() < sample.meanRows());
        }
    }

    private static BaselineBuilder masking(MaskRules rules, boolean tooLong) {
        BaselineBuilder builder =
                BaselineBuilder.of(BaselineTest.AUTOENCODER, List.of(BaselineTest.RANK), List.of(20, 35), rules);
        for (int i = 0; i < 12 && builder.needsNorms(); i++) {
            builder.addNorms(withSpecialRows(BaselineTest.request(i), tooLong));
        }
        for (int i = 0; i < 12; i++) {
            builder.add(withSpecialRows(BaselineTest.request(i), tooLong));
        }
        return builder;
    }

    private static Baseline windows(BaselineBuilder builder, boolean tooLong) {
        CleanWindowPass windows = builder.secondPass();
        for (int i = 0; i < 12; i++) {
            windows.add(withSpecialRows(BaselineTest.request(i), tooLong));
        }
        return windows.build();
    }

    @Test
    void theMedianNormIsThatOfTheRowsOfNoMaskedToken() {
        BaselineBuilder builder = BaselineBuilder.of(
                BaselineTest.AUTOENCODER,
                List.of(BaselineTest.RANK),
                List.of(),
                new MaskRules(List.of(101L, 102L), null));
        List<Double> norms = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            ActivationBatch batch = withSpecialRows(BaselineTest.request(i), true);
            builder.add(batch);
            for (int row = 1; row < batch.rows() - 1; row++) {
                norms.add(batch.activations().rowRange(row, row + 1).frobeniusNorm());
            }
        }
        norms.sort(null);
        double median = norms.get((norms.size() - 1) / 2);
        assertEquals(median, builder.build().masking().medianNorm(), 1e-3 * median);
    }

    @Test
    void aFileThatSaysNothingOfMaskingMaskedNothing(@TempDir Path folder) throws IOException {
        assertEquals(
                MaskRules.NONE,
                BaselineTest.reread(folder, BaselineTest.build(12)).masking().rules());
        Baseline old = BaselineTest.build(12);
        Baseline older = new Baseline(
                old.explainerSha256(),
                old.moment(),
                old.reconstructionMoment(),
                old.reconstructionFvu(),
                old.grouping(),
                old.samples(),
                Masking.UNKNOWN,
                List.of(),
                old.encodedRows(),
                old.requests(),
                old.groups(),
                old.activity(),
                List.of(),
                null);
        assertEquals(Masking.UNKNOWN, BaselineTest.reread(folder, older).masking());
    }

    /** The rows between a token 101 and a token 102, both huge; with a row of a common token that is too long. */
    private static ActivationBatch withSpecialRows(Matrix rows, boolean tooLong) {
        int common = tooLong ? 1 : 0;
        Matrix more = Matrix.zeros(rows.rows() + 2 + common, BaselineTest.DIMENSION);
        System.arraycopy(rows.values(), 0, more.values(), BaselineTest.DIMENSION, rows.values().length);
        long[] ids = new long[more.rows()];
        ids[0] = 101;
        more.set(0, 1, 1e6);
        if (tooLong) {
            more.set(more.rows() - 2, 2, 300.0);
        }
        ids[more.rows() - 1] = 102;
        more.set(more.rows() - 1, 0, -1e6);
        return new ActivationBatch(more, null, ids);
    }
}
