package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.SampledCodes;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.explainer.WatchedEncoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowCodes;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A whole adaptation of rows that came with their codes, beside that of rows that did not. */
class EarlyCodesTest {

    private static final int WIDTH = 16;
    private static final int FEATURES = 90;
    private static final int ROWS = 512;
    private static final int RANK = 4;

    private final AtomicInteger encoded = new AtomicInteger();
    private final Matrix weights = Problem.gaussian(new Random(41), FEATURES, WIDTH, 0.4);
    private final Decoder trained = new Decoder(weights, new double[WIDTH]);
    private final Encoder encoder = TopKEncoder.of(weights, new double[FEATURES], 8);

    @Test
    void theResultIsTheSameToTheLastBitWhateverRowsCameWithTheirCodes() {
        RowSample plain = sample();
        GatedAdaptation expected = adapt(plain);
        assertEquals(ROWS, encoded.getAndSet(0));
        assertTrue(expected.publishes(), () -> expected.decision().reason());
        for (int every : new int[] {1, 2, 5}) {
            RowSample early = sample();
            List<SampledRow> chosen = new ArrayList<>();
            for (int row = 0; row < ROWS; row += every) {
                chosen.add(early.rows().get(row));
            }
            List<RowCodes> codes = SampledCodes.ahead(encoder, chosen);
            for (int i = 0; i < codes.size(); i++) {
                early.attach(chosen.get(i).hash(), codes.get(i));
            }
            RowSample arrived = RowSample.ofCapacity(ROWS);
            early.encode(10_000).forEach(arrived::mergeEncoded);
            GatedAdaptation found = adapt(arrived);
            assertEquals(ROWS - chosen.size(), encoded.getAndSet(0), "rows left to encode");
            assertEquals(expected.search().decoder(), found.search().decoder(), "every %d. row".formatted(every));
            assertEquals(expected.decision(), found.decision());
            assertEquals(expected.search().best(), found.search().best());
        }
    }

    /** Every row is encoded, also those of guards: the last decoder is fitted on all. */
    private GatedAdaptation adapt(RowSample sample) {
        SampleSplit split = SampleSplit.of(sample.rows(), 0.25);
        Encoder counting = new WatchedEncoder(encoder, encoded::addAndGet);
        AdaptationRows rows = AdaptationRows.of(counting, split, new BaselineRows(null, null), WIDTH);
        return GatedAdaptation.of(
                new AdaptationProfile.Auto(),
                new SwapGate(new GateLimits(0.01, 1.0, -1.0, 1e9, 1.0, 1e9)),
                trained,
                ExplainerSubspace.ofWeights(weights, RANK),
                ServingDecoder.of(trained),
                rows,
                RANK,
                Travelling.dense(DType.F32));
    }

    private RowSample sample() {
        Random random = new Random(42);
        RowSample sample = RowSample.ofCapacity(ROWS);
        for (int row = 0; row < ROWS; row++) {
            float[] values = new float[WIDTH];
            for (int j = 0; j < WIDTH; j++) {
                values[j] = (float) ((j < 4 ? 3.0 : 0.3) * random.nextGaussian());
            }
            sample.offer(RowSample.hash(row, 0), row / 8, row / 8, values, null);
        }
        return sample;
    }
}
