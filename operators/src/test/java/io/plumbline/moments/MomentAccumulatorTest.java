package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentClaim;
import io.plumbline.records.MomentRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MomentAccumulatorTest {

    private static final int WIDTH = 12;
    private static final long PANE = 1_000;

    private record Sent(long timestampMs, MomentRecord record) {}

    private final List<Sent> sent = new ArrayList<>();
    private final List<Map<String, String>> told = new ArrayList<>();

    private MomentAccumulator accumulator(RowMask mask, int sampleRows, long grace, long mostBytes) {
        return MomentAccumulator.of(
                new MomentAccumulator.Settings(WIDTH, null, mask, PANE, grace, sampleRows, DType.F64, mostBytes),
                1,
                this::take);
    }

    private synchronized void take(long timestampMs, byte @Nullable [] value, Map<String, String> headers) {
        told.add(headers);
        if (value == null) {
            return;
        }
        MomentRecord record = (MomentRecord) ActivationRecord.parse(value, new KnownHeaders());
        assertNull(MomentClaim.fault(record));
        assertNull(TotalsClaim.fault(record));
        sent.add(new Sent(timestampMs, record));
    }

    private static ActivationBatch batch(int seed, int rows) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix values = Matrix.zeros(rows, WIDTH);
        for (int i = 0; i < values.values().length; i++) {
            values.values()[i] = random.nextInt(-40, 41);
        }
        return new ActivationBatch(values, null, null);
    }

    @Test
    void theSumsAreThoseOfTheServiceToTheLastBit() {
        SecondMomentAccumulator rows = SecondMomentAccumulator.ofDimension(WIDTH);
        try (MomentAccumulator moments = accumulator(RowMask.NONE, 8, 0, Long.MAX_VALUE)) {
            for (int i = 0; i < 20; i++) {
                moments.add(batch(i, 17), "request " + i, 5_000 + i);
                rows.addFloats(batch(i, 17).activations());
            }
        }
        MomentRecord record = sent.get(0).record();
        assertArrayEquals(
                rows.state(),
                SecondMomentAccumulator.ofDimension(WIDTH).merge(record).state());
        assertEquals(new MomentRecord.Counts(340, 20, 0, 0), record.counts());
        assertEquals(new MomentRecord.Pane(5_000, PANE), record.pane());
        assertEquals(5_019, sent.get(0).timestampMs());
    }

    @Test
    void theIdentityOfRowsIsThatOfTheContract() {
        try (MomentAccumulator moments = accumulator(RowMask.NONE, 8, 0, Long.MAX_VALUE)) {
            moments.add(batch(1, 3), null, 0);
            moments.add(batch(2, 3), "request-1", 0);
        }
        MomentRecord.Sample sample = sent.get(0).record().sample();
        assertArrayEquals(
                new long[] {
                    -8015769616597840910L,
                    -3934503178261198974L,
                    -2125252769065580202L,
                    3307230796957799012L,
                    4585330820673184961L,
                    5706694046452267557L
                },
                sample.hashes());
        assertEquals(6791897765849424158L, sample.requests()[0]);
        assertEquals(-5008229634334826175L, sample.requests()[1]);
    }

    @Test
    void theTotalsAreTheRowsOfTheRequestsOfSmallestMixedHash() {
        Map<Long, double[]> truth = new TreeMap<>();
        Map<Long, String> names = new TreeMap<>();
        try (MomentAccumulator moments = MomentAccumulator.of(
                new MomentAccumulator.Settings(WIDTH, null, RowMask.NONE, PANE, 0, 8, DType.F64, Long.MAX_VALUE, 5),
                1,
                this::take)) {
            for (int i = 0; i < 60; i++) {
                String name = i % 20 == 0 ? null : "request " + i % 20;
                moments.add(batch(i, 1 + i % 4), name, 5_000);
                long request = name == null ? MomentAccumulator.recordIdentity(1, i) : RowSample.requestHash(name);
                double[] total = truth.computeIfAbsent(SplitMix.mix(request), hash -> new double[WIDTH + 2]);
                names.put(SplitMix.mix(request), String.valueOf(name));
                total[WIDTH]++;
                total[WIDTH + 1] += 1 + i % 4;
                double[] rows = batch(i, 1 + i % 4).activations().values();
                for (int j = 0; j < rows.length; j++) {
                    total[j % WIDTH] += rows[j];
                }
            }
        }
        MomentRecord record = sent.get(0).record();
        MomentRecord.Totals totals = record.totals();
        assertEquals(5, totals.size());
        assertEquals(false, record.isTotalledWhole());
        int g = 0;
        for (Map.Entry<Long, double[]> entry : List.copyOf(truth.entrySet()).subList(0, 5)) {
            assertEquals(entry.getKey(), SplitMix.mix(totals.requests()[g]));
            assertEquals(
                    names.get(entry.getKey()), String.valueOf(totals.names().get(g)));
            double[] found = new double[WIDTH + 2];
            totals.sums().copy(g, found, 0);
            found[WIDTH] = totals.records()[g];
            found[WIDTH + 1] = totals.rows()[g];
            assertArrayEquals(entry.getValue(), found, "integers are exact");
            g++;
        }
    }

    @Test
    void aRecordIsNoLargerThanIsSaid() {
        Matrix row = Matrix.zeros(1, 600);
        List<byte[]> values = new ArrayList<>();
        try (MomentAccumulator moments = MomentAccumulator.of(
                new MomentAccumulator.Settings(600, null, RowMask.NONE, PANE, 0, 16, DType.F64, Long.MAX_VALUE),
                (time, value, headers) -> values.add(value))) {
            for (int i = 0; i < 1_100; i++) {
                row.set(0, 0, i);
                moments.add(new ActivationBatch(row.copy(), null, null), i + "ü".repeat(70), 0);
            }
        }
        MomentRecord record = (MomentRecord) ActivationRecord.parse(values.get(0), new KnownHeaders());
        assertEquals(MomentRecord.Totals.most(600), record.totals().size());
        long largest = MomentRecord.largestBytes(600, 600, false, 16);
        assertTrue(values.get(0).length <= largest, values.get(0).length + " bytes");
    }

    @Test
    void nothingIsTotalledWhereThatIsAsked() {
        try (MomentAccumulator moments = MomentAccumulator.of(
                new MomentAccumulator.Settings(WIDTH, null, RowMask.NONE, PANE, 0, 8, DType.F64, Long.MAX_VALUE, 0),
                1,
                this::take)) {
            moments.add(batch(1, 3), "request", 0);
        }
        assertNull(sent.get(0).record().totals());
    }

    @Test
    void paneEndsAreSentWhenEventTimeHasPassedThemByTheGrace() {
        MomentAccumulator moments = accumulator(RowMask.NONE, 8, 200, Long.MAX_VALUE);
        moments.add(batch(1, 2), null, 999);
        moments.add(batch(2, 2), null, 1_199);
        assertEquals(0, sent.size());
        moments.add(batch(3, 2), null, 1_200);
        assertEquals(List.of(0L), starts());
        moments.add(batch(4, 2), null, 998);
        assertEquals(List.of(0L, 0L), starts());
        moments.flushBefore(1_999);
        assertEquals(2, sent.size());
        moments.flushBefore(2_000);
        assertEquals(List.of(0L, 0L, 1_000L), starts());
    }

    @Test
    void theOldestPanesAreSentWhereAllAreLargerThanTheyMayBe() {
        long onePane = 4L * WIDTH * (WIDTH + 3) + 2L * 2 * 4 * WIDTH + 8L * WIDTH + 128;
        MomentAccumulator moments = accumulator(RowMask.NONE, 2, 60_000, 2 * onePane);
        for (long pane = 0; pane < 5; pane++) {
            moments.add(batch((int) pane, 4), null, pane * PANE);
        }
        assertEquals(List.of(0L, 1_000L, 2_000L), starts());
    }

    @Test
    void maskedRowsAreCountedAndTheMaskIsSaid() {
        RowMask mask = RowMask.of(new MaskRules(List.of(101L), 2.0), 3.0);
        Matrix values = Matrix.zeros(4, WIDTH);
        values.set(0, 0, 1.0);
        values.set(1, 0, 6.0);
        values.set(2, 0, 6.5);
        values.set(3, 0, 2.0);
        try (MomentAccumulator moments = accumulator(mask, 8, 0, Long.MAX_VALUE)) {
            moments.add(new ActivationBatch(values, null, new long[] {101, 5, 5, 5}), null, 10);
            moments.add(new ActivationBatch(values.rowRange(0, 1), null, new long[] {101}), null, 2_010);
        }
        MomentRecord record = sent.get(0).record();
        assertEquals(new MomentRecord.Counts(2, 1, 1, 1), record.counts());
        assertEquals(6.0, record.largestNorm());
        assertEquals(true, mask.isApplied(record.mask()));
        assertEquals(new MomentRecord.Counts(0, 0, 1, 0), sent.get(1).record().counts());
        assertNull(sent.get(1).record().sample());
    }

    @Test
    void aBatchThatIsNotFiniteIsRefusedAndNothingOfItIsAdded() {
        MomentAccumulator moments = accumulator(RowMask.NONE, 8, 0, Long.MAX_VALUE);
        moments.add(batch(1, 2), null, 0);
        ActivationBatch bad = batch(2, 2);
        bad.activations().set(1, 3, Double.NaN);
        assertThrows(NonFiniteRowException.class, () -> moments.add(bad, null, 0));
        moments.close();
        assertEquals(2, sent.get(0).record().counts().rows());
        assertThrows(IllegalStateException.class, () -> moments.add(batch(1, 2), null, 0));
    }

    @Test
    void rowsOfAnOpenPaneAreToldOnceAndCountedOutOfItsRecord() {
        MomentAccumulator moments = accumulator(RowMask.NONE, 8, 0, Long.MAX_VALUE);
        moments.announce();
        assertEquals(List.of(), told);
        moments.add(batch(1, 3), "request", 1_000);
        moments.announce();
        moments.announce();
        moments.add(batch(2, 4), "request", 1_001);
        moments.announce();
        moments.add(batch(3, 5), "request", 1_002);
        moments.close();
        assertEquals(
                List.of(
                        Map.of("tokens_served", "3"),
                        Map.of("tokens_served", "4"),
                        Map.of("tokens_served", "12", "tokens_announced", "7")),
                told);
        assertEquals(1, sent.size());
    }

    @Test
    void aPaneOfWhichNothingWasToldHasNoHeaders() {
        MomentAccumulator moments = accumulator(RowMask.NONE, 8, 0, Long.MAX_VALUE);
        moments.add(batch(1, 3), "request", 1_000);
        moments.close();
        assertEquals(List.of(Map.of()), told);
    }

    @Test
    void transcodersSendTheMomentOfTheTargetsAndBothSidesOfSampledRows() {
        MomentAccumulator moments = MomentAccumulator.of(
                new MomentAccumulator.Settings(2, 3, RowMask.NONE, PANE, 0, 8, DType.F32, Long.MAX_VALUE),
                1,
                this::take);
        Matrix targets = new Matrix(1, 3, new double[] {1, 2, 3});
        moments.add(new ActivationBatch(new Matrix(1, 2, new double[] {8, 9}), targets, null), null, 7);
        assertThrows(
                IllegalArgumentException.class,
                () -> moments.add(new ActivationBatch(new Matrix(1, 2, new double[] {8, 9}), null, null), null, 7));
        moments.close();
        MomentRecord record = sent.get(0).record();
        assertArrayEquals(
                new double[] {1, 2, 3, 1, 2, 4, 3, 6, 9},
                SecondMomentAccumulator.ofDimension(3).merge(record).state());
        assertArrayEquals(new float[] {8, 9}, record.sample().activations().row(0));
        assertArrayEquals(new float[] {1, 2, 3}, record.sample().targets().row(0));
        assertArrayEquals(new float[] {1, 2, 3}, record.totals().sums().row(0));
    }

    @Test
    void rowsOfManyThreadsAreAllSentOnce() throws Exception {
        MomentAccumulator moments = accumulator(RowMask.NONE, 8, 0, Long.MAX_VALUE);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> work = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                int seed = thread;
                work.add(threads.submit(() -> {
                    for (int i = 0; i < 200; i++) {
                        moments.add(batch(seed * 1_000 + i, 3), null, i * 50L);
                    }
                }));
            }
            for (Future<?> one : work) {
                one.get();
            }
        } finally {
            threads.shutdown();
        }
        moments.close();
        assertEquals(
                2_400,
                sent.stream().mapToInt(one -> one.record().counts().rows()).sum());
        assertEquals(
                800,
                sent.stream().mapToInt(one -> one.record().counts().requests()).sum());
    }

    private List<Long> starts() {
        return sent.stream().map(one -> one.record().pane().startMs()).toList();
    }
}
