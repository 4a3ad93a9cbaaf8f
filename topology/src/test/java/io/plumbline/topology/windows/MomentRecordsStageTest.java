package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentRecord;
import io.plumbline.records.MomentRecordWriter;
import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests moments that come instead of rows, on their way through both levels, against the rows themselves. */
class MomentRecordsStageTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final RowMask MASK = RowMask.of(new MaskRules(List.of(1L), 2.0), 9.0);
    private static final int SAMPLE = 16;

    @TempDir
    private Path folder;

    @Nullable
    private WindowPipeline rows;

    @Nullable
    private WindowPipeline moments;

    @AfterEach
    void close() {
        for (WindowPipeline pipeline : new WindowPipeline[] {rows, moments}) {
            if (pipeline != null) {
                pipeline.close();
            }
        }
    }

    /** Tests producers of moments and of rows, in panes of 1 s, into hopping windows of several panes. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void windowsAreThoseOfTheSameRowsWhoeverSendsMoments(int partitions) {
        WindowPipeline whole = start("rows", settings(12, 3), partitions, MASK);
        WindowPipeline mixed = start("moments", settings(12, 3), partitions, MASK);
        rows = whole;
        moments = mixed;
        List<MomentAccumulator> producers = new ArrayList<>();
        for (int producer = 0; producer < 3; producer++) {
            int partition = producer % partitions;
            producers.add(accumulator(
                    MASK, 1_000, (time, value, headers) -> mixed.read(WindowPipeline.SITE, partition, value, time)));
        }
        SplittableRandom random = new SplittableRandom(3);
        for (int record = 0; record < 160; record++) {
            long time = T0 + 250L * record;
            int count = 1 + random.nextInt(9);
            Matrix values = ActivationRecords.integerRows(record, count, WindowPipeline.WIDTH);
            long[] tokens = random.longs(count, 0, 5).toArray();
            byte[] blob = ActivationRecords.blob(values, tokens);
            String request = "request " + record / 3;
            int producer = random.nextInt(4);
            whole.read(WindowPipeline.SITE, request, record % partitions, blob, time);
            if (producer == 3) {
                mixed.read(WindowPipeline.SITE, request, record % partitions, blob, time);
            } else {
                producers
                        .get(producer)
                        .add(
                                new ActivationBatch(values, null, tokens),
                                request,
                                time,
                                RowSample.recordHash(blob, time, request.getBytes(StandardCharsets.UTF_8)));
            }
            // A producer that is not given rows for a while learns of the time.
            producers.forEach(one -> one.flushBefore(time));
        }
        producers.forEach(MomentAccumulator::close);
        for (WindowPipeline pipeline : List.of(whole, mixed)) {
            for (int partition = 0; partition < partitions; partition++) {
                Matrix last = ActivationRecords.integerRows(7, 1, WindowPipeline.WIDTH);
                pipeline.read(WindowPipeline.SITE, partition, ActivationRecords.blob(last, 2), T0 + 120_000);
            }
            pipeline.deliverAll();
        }
        assertEquals(0, mixed.deadLetters);
        assertEquals(0, mixed.lateRows());
        assertTrue(mixed.moments > 60, mixed.moments + " moments");
        assertEquals(whole.rowsAccepted, mixed.rowsAccepted);
        assertEquals(whole.windows.size(), mixed.windows.size());
        whole.passSeconds(60);
        mixed.passSeconds(60);
        assertEquals(whole.account, mixed.account);
        assertEquals(0, mixed.account.unaccounted());
        for (int i = 0; i < whole.windows.size(); i++) {
            ClosedWindow expected = whole.windows.get(i);
            ClosedWindow found = mixed.windows.get(i);
            assertEquals(expected.startMs(), found.startMs());
            assertArrayEquals(expected.moment().state(), found.moment().state(), "integers are exact");
            assertEquals(expected.moment().rows(), found.moment().rows());
            assertEquals(expected.requests(), found.requests());
            assertEquals(expected.masked(), found.masked());
            assertEquals(describe(expected.sample()), describe(found.sample()));
            assertTrue(found.complete());
            assertEquals(0, expected.momentRecords());
            assertNotNull(expected.requestTotals());
            assertNotNull(found.requestTotals());
            assertEquals(
                    expected.requestTotals().totals(), found.requestTotals().totals());
            assertEquals(
                    expected.requestTotals().recordsNotKept(),
                    found.requestTotals().recordsNotKept());
        }
        assertTrue(mixed.windows.stream()
                        .filter(window -> window.momentRecords() > 0)
                        .count()
                > 10);
    }

    @Test
    void aWindowWithAMomentWithoutTotalsHasNone() {
        WindowPipeline open = start("one", settings(10, 10), 1, RowMask.NONE);
        moments = open;
        Matrix values = ActivationRecords.integerRows(1, 3, WindowPipeline.WIDTH);
        for (long startMs : new long[] {T0, T0 + 10_000}) {
            int requestTotals = startMs == T0 ? 0 : 4;
            MomentAccumulator producer = MomentAccumulator.of(
                    new MomentAccumulator.Settings(
                            WindowPipeline.WIDTH,
                            null,
                            RowMask.NONE,
                            10_000,
                            0,
                            SAMPLE,
                            DType.F64,
                            Long.MAX_VALUE,
                            requestTotals),
                    (time, value, headers) -> open.read(WindowPipeline.SITE, 0, value, time));
            producer.add(new ActivationBatch(values, null, null), "summed", startMs);
            producer.close();
            open.read(WindowPipeline.SITE, "row by row", 0, ActivationRecords.blob(values), startMs);
        }
        open.passSeconds(60);
        assertEquals(List.of(), open.refusals);
        assertNull(open.windows.get(0).requestTotals(), "scores of some requests are those of another window");
        RequestTotals both = open.windows.get(1).requestTotals();
        assertNotNull(both);
        assertEquals(
                Set.of("summed", "row by row"),
                both.totals().stream().map(RequestTotal::name).collect(Collectors.toSet()));
    }

    @Test
    void aMomentOfTwoPanesIsADeadLetterAndOneOfAPartOfAPaneIsNot() {
        WindowPipeline open = start("one", settings(10, 10), 1, RowMask.NONE);
        moments = open;
        for (long pane : new long[] {10_000, 5_000, 1_000}) {
            sendOne(open, pane, T0 + 9_999);
        }
        assertEquals(List.of(), open.refusals);
        for (long pane : new long[] {20_000, 3_000, 7_000, 60_000}) {
            sendOne(open, pane, T0 + 10_001);
        }
        assertEquals(List.of(DeadLetter.Reason.STRADDLES_PANES), List.copyOf(new TreeSet<>(open.refusals)));
    }

    /** Tests two producers; one announces its tokens, and dies before it sends their moment. */
    @Test
    void whatAKilledProducerHadOpenIsMissingInTheCoverageOfItsWindow() {
        WindowPipeline open = start("one", settings(10, 10), 2, RowMask.NONE);
        moments = open;
        for (int producer = 0; producer < 2; producer++) {
            open.readWith(Map.of("tokens_served", "20", "record_id", "word " + producer), producer, null, T0 + 1_000);
            open.readWith(Map.of("tokens_served", "20", "record_id", "word " + producer), producer, null, T0 + 1_000);
        }
        open.readWith(Map.of("tokens_served", "10", "cached", "4"), 1, null, T0 + 2_000);
        Matrix values = ActivationRecords.integerRows(1, 30, WindowPipeline.WIDTH);
        open.readWith(
                Map.of("tokens_served", "30", "tokens_announced", "20"), 0, ActivationRecords.blob(values), T0 + 9_000);
        open.passSeconds(120);
        assertEquals(List.of(), open.refusals);
        assertEquals(2, open.repeated);
        assertEquals(1, open.windows.size());
        assertEquals(
                new Coverage(20 + 20 + 10 + 10, 30, 4, 0, 0),
                open.windows.get(0).notes().coverage());
        assertEquals(30, open.windows.get(0).moment().rows());
        assertEquals(0, open.account.unaccounted());
    }

    @Test
    void aMomentOfAClosedPaneIsLateWithAllItsRows() {
        RowMask mask = RowMask.of(new MaskRules(List.of(1L), null), null);
        WindowPipeline open = start("one", settings(10, 10), 1, mask);
        moments = open;
        Matrix values = ActivationRecords.integerRows(1, 4, WindowPipeline.WIDTH);
        open.read(WindowPipeline.SITE, 0, ActivationRecords.blob(values, 2, 2, 2, 2), T0 + 30_000);
        MomentAccumulator producer =
                accumulator(mask, 10_000, (time, value, headers) -> open.read(WindowPipeline.SITE, 0, value, time));
        producer.add(new ActivationBatch(values, null, new long[] {1, 2, 3, 4}), null, T0 + 5_000);
        producer.close();
        assertEquals(4, open.late.get(LateReason.AFTER_GRACE));
        assertEquals(8, open.rowsAccepted);
        open.passSeconds(60);
        assertEquals(4, open.account.inWindows());
        assertEquals(8, open.account.in());
        assertEquals(0, open.account.unaccounted());
    }

    @Test
    void maskedRowsAloneAreCountedAndMakeNoWindow() {
        RowMask mask = RowMask.of(new MaskRules(List.of(1L), null), null);
        WindowPipeline open = start("one", settings(10, 10), 1, mask);
        moments = open;
        MomentAccumulator producer =
                accumulator(mask, 10_000, (time, value, headers) -> open.read(WindowPipeline.SITE, 0, value, time));
        Matrix values = ActivationRecords.integerRows(1, 2, WindowPipeline.WIDTH);
        producer.add(new ActivationBatch(values, null, new long[] {1, 1}), null, T0 + 5_000);
        producer.close();
        open.passSeconds(60);
        assertEquals(List.of(), open.windows);
        assertEquals(new MaskedRows(2, 0).byReason(), open.account.masked());
        assertEquals(0, open.deadLetters);
    }

    @Test
    void aMomentOfRowsThatWereMaskedInAnotherWayIsRefused() {
        WindowPipeline open = start("one", settings(10, 10), 1, MASK);
        moments = open;
        sendOne(open, 10_000, T0);
        assertEquals(List.of(DeadLetter.Reason.WRONG_MASK), open.refusals);
    }

    /** Tests a row of ones whose request is said to have summed up to more. */
    @ParameterizedTest
    @ValueSource(doubles = {1.0, 1.5, Double.NaN})
    void aMomentWithTotalsThatNoRequestHasIsADeadLetter(double total) {
        WindowPipeline open = start("one", settings(10, 10), 1, RowMask.NONE);
        moments = open;
        int d = WindowPipeline.WIDTH;
        double[] ones = new double[d + d * (d + 1) / 2];
        Arrays.fill(ones, 1.0);
        float[] row = new float[d];
        Arrays.fill(row, 1.0f);
        double[] sum = new double[d];
        Arrays.fill(sum, total);
        byte[] value = MomentRecordWriter.of(
                        new MomentRecord.Counts(1, 1, 0, 0),
                        new MomentRecord.Pane(T0, 10_000),
                        d,
                        ones,
                        DType.F64,
                        Math.sqrt(d))
                .sample(new long[] {1}, new long[] {2}, new long[] {T0}, List.of(row), null)
                .totals(new long[] {2}, new long[] {1}, new long[] {1}, List.of("a"), List.of(sum))
                .toBytes();
        open.read(WindowPipeline.SITE, 0, value, T0);
        assertEquals(
                total == 1.0
                        ? List.of()
                        : List.of(
                                Double.isNaN(total)
                                        ? DeadLetter.Reason.NON_FINITE
                                        : DeadLetter.Reason.IMPOSSIBLE_MOMENT),
                open.refusals);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRecordThatIsSentAgainCountsOnceInItsPane(boolean asMoment) {
        WindowPipeline open = start("one", settings(10, 10), 1, RowMask.NONE);
        moments = open;
        List<byte[]> value = new ArrayList<>();
        Matrix values = ActivationRecords.integerRows(1, 3, WindowPipeline.WIDTH);
        MomentAccumulator producer = accumulator(RowMask.NONE, 10_000, (time, blob, headers) -> value.add(blob));
        producer.add(new ActivationBatch(values, null, null), null, T0);
        producer.close();
        byte[] blob = asMoment ? value.get(0) : ActivationRecords.blob(values);
        open.readOnce("a", 0, blob, T0);
        open.readOnce("a", 0, blob, T0);
        open.readOnce("b", 0, blob, T0);
        open.readOnce("a", 0, blob, T0);
        assertEquals(2, open.repeated);
        open.readOnce("a", 0, ActivationRecords.blob(values), T0 + 20_000);
        open.readOnce("a", 0, blob, T0);
        assertEquals(2, open.repeated);
        assertEquals(3, open.lateRows(), "the pane is closed, and its ids are forgotten");
        open.passSeconds(60);
        assertEquals(6, open.windows.get(0).moment().rows());
        assertEquals(3, open.windows.get(1).moment().rows());
        assertEquals(9, open.account.inWindows());
        assertEquals(12, open.account.in());
        assertEquals(0, open.account.unaccounted());
    }

    @Test
    void aPaneRemembersAsManyIdsAsItTakesRecordsAndRefusesWhatIsBeyond() {
        WindowPipeline open = start("one", settings(10, 10), 1, RowMask.NONE);
        moments = open;
        byte[] value = ActivationRecords.blob(ActivationRecords.integerRows(1, 1, WindowPipeline.WIDTH));
        for (int i = 0; i <= WindowPipeline.MOST_RECORDS; i++) {
            open.readOnce("id " + i, 0, value, T0);
        }
        assertEquals(List.of(DeadLetter.Reason.TOO_MANY_REQUESTS), open.refusals);
        open.readOnce("id 0", 0, value, T0);
        assertEquals(1, open.repeated, "a record that is known is no more of them");
    }

    @Test
    void anEmptyIdIsRefused() {
        WindowPipeline open = start("one", settings(10, 10), 1, RowMask.NONE);
        moments = open;
        byte[] value = ActivationRecords.blob(ActivationRecords.integerRows(1, 1, WindowPipeline.WIDTH));
        open.readOnce("", 0, value, T0);
        open.readOnce("x".repeat(1_025), 0, value, T0);
        open.readOnce("x".repeat(1_024), 0, value, T0);
        assertEquals(List.of(DeadLetter.Reason.MALFORMED, DeadLetter.Reason.MALFORMED), open.refusals);
    }

    private void sendOne(WindowPipeline open, long paneMs, long timestampMs) {
        MomentAccumulator producer = accumulator(
                RowMask.NONE, paneMs, (time, value, headers) -> open.read(WindowPipeline.SITE, 0, value, time));
        producer.add(
                new ActivationBatch(ActivationRecords.integerRows(1, 3, WindowPipeline.WIDTH), null, null),
                null,
                timestampMs);
        producer.close();
    }

    private static MomentAccumulator accumulator(RowMask mask, long paneMs, MomentAccumulator.Sink sink) {
        return MomentAccumulator.of(
                new MomentAccumulator.Settings(
                        WindowPipeline.WIDTH, null, mask, paneMs, 0, SAMPLE, DType.F64, Long.MAX_VALUE),
                sink);
    }

    private WindowPipeline start(String name, WindowSettings settings, int partitions, RowMask mask) {
        return new WindowPipeline(settings, partitions, folder.resolve(name), SourceWatch.ALWAYS_READ, mask);
    }

    private static WindowSettings settings(int size, int advance) {
        return new WindowSettings(
                Duration.ofSeconds(size),
                Duration.ofSeconds(advance),
                Duration.ofSeconds(2),
                Duration.ofSeconds(30),
                Duration.ofMinutes(10));
    }

    private static List<List<Object>> describe(RowSample sample) {
        return sample.rows().stream().map(MomentRecordsStageTest::describe).toList();
    }

    private static List<Object> describe(SampledRow row) {
        List<Object> all = new ArrayList<>(List.of(row.hash(), row.request(), row.timestampMs()));
        for (float value : row.activation()) {
            all.add(value);
        }
        return all;
    }
}
