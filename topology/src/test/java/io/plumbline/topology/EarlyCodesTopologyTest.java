package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.WatchedEncoder;
import io.plumbline.moments.EncoderId;
import io.plumbline.moments.RowCodes;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WindowReport;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.AssembledDecoders;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.windows.LateReason;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowWorkers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows encoded while their window is open: from the record that brings them to the decoder that comes of them. */
class EarlyCodesTopologyTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int ROWS = WatchedFolder.ROWS * WatchedFolder.RECORDS;
    private static final String ON_ARRIVAL = "mode: auto, encode_rows: on-arrival";

    @TempDir
    private Path folder;

    /** Done when the next record is read. */
    private final Deque<Runnable> waiting = new ArrayDeque<>();

    /** What the monitor said of a quiet window and two drifted ones, of which the first asks here. */
    private record Said(List<byte[]> reports, List<AdaptationMessage> requests, int encoded) {

        List<SampledRow> sampled() {
            RowSample sample = RowSample.ofCapacity(AdapterRequests.CAPACITY);
            requests.stream()
                    .filter(AdaptationMessage.SamplePart.class::isInstance)
                    .forEach(part -> sample.mergeEncoded(((AdaptationMessage.SamplePart) part).part()));
            return sample.rows();
        }
    }

    /** What the adapter made of it. */
    private record Made(String sha256, int early, int late) {}

    @Test
    void whereThePaneHadTimeNoRowIsLeftToEncodeAndEverythingElseIsTheSame() throws IOException {
        Said plain = monitor("mode: auto", Runnable::run, 2);
        assertEquals(0, plain.encoded());
        Made expected = adapter("mode: auto", plain.requests());
        assertEquals(new Made(expected.sha256(), 0, ROWS), expected);
        Said early = monitor(ON_ARRIVAL, Runnable::run, 2);
        assertEquals(3 * ROWS, early.encoded(), "of three windows that fit in a sample every row once");
        assertSameReports(plain, early);
        assertEquals(new Made(expected.sha256(), ROWS, 0), adapter(ON_ARRIVAL, early.requests()));
    }

    @Test
    void whereThePaneHadNoTimeOrNobodyToEncodeTheRowsGoWithoutAndNothingWaits() throws IOException {
        Said plain = monitor("mode: auto", Runnable::run, 2);
        Executor never = work -> {};
        Executor full = work -> {
            throw new RejectedExecutionException();
        };
        for (Said said : List.of(
                monitor(ON_ARRIVAL, Runnable::run, 0), monitor(ON_ARRIVAL, never, 2), monitor(ON_ARRIVAL, full, 2))) {
            assertEquals(0, said.encoded());
            assertSameReports(plain, said);
            assertTrue(said.sampled().stream().allMatch(row -> row.codes() == null));
        }
    }

    /** The encoder is another thread: here it works between the last look and the close. */
    @Test
    void codesThatAreDoneWhenThePaneLeavesGoWithIt() throws IOException {
        Said plain = monitor("mode: auto", Runnable::run, 2);
        Said said = monitor(ON_ARRIVAL, waiting::add, 2);
        assertSameReports(plain, said);
        assertEquals(
                ROWS, said.sampled().stream().filter(row -> row.codes() != null).count());
    }

    /** Of 128 rows all are within those that FVU is measured on. */
    @Test
    void aReportsReconstructionTakesTheCodesThatCame() throws IOException {
        MonitorConfig config = WatchedFolder.createAdapting(folder, "unused:9092", ON_ARRIVAL);
        AtomicInteger rows = new AtomicInteger();
        WatchedSite site = withEncoder(config, encoder -> new WatchedEncoder(encoder, rows::addAndGet));
        Said said = monitor(config, site, Runnable::run, 2, "counted");
        assertEquals(3 * ROWS, said.encoded());
        assertEquals(
                3 * ROWS + site.baseline().rows().size(),
                rows.get(),
                "none once more for the three reports, and the baseline's once for the features that fail");
    }

    @Test
    void whatWasRefusedOnceIsAskedForAgain() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        Executor busyAtFirst = work -> {
            if (asked.getAndIncrement() % 3 == 0) {
                throw new RejectedExecutionException();
            }
            work.run();
        };
        Said said = monitor(ON_ARRIVAL, busyAtFirst, 4);
        assertEquals(3 * ROWS, said.encoded());
        assertEquals(
                ROWS, said.sampled().stream().filter(row -> row.codes() != null).count());
    }

    /** As after the explainer was changed on one side only. */
    @Test
    void theCodesOfAnotherEncoderAreNotUsed() throws IOException {
        Said plain = monitor("mode: auto", Runnable::run, 2);
        Made expected = adapter("mode: auto", plain.requests());
        RowSample foreign = RowSample.ofCapacity(AdapterRequests.CAPACITY);
        plain.requests().stream()
                .filter(AdaptationMessage.SamplePart.class::isInstance)
                .forEach(part -> foreign.mergeEncoded(((AdaptationMessage.SamplePart) part).part()));
        EncoderId other = new EncoderId("ab".repeat(32), WatchedFolder.FEATURES);
        for (SampledRow row : foreign.rows()) {
            foreign.attach(row.hash(), new RowCodes(other, new int[] {3}, new double[] {1000}));
        }
        assertEquals(new Made(expected.sha256(), 0, ROWS), adapter(ON_ARRIVAL, requests(plain, foreign)));
    }

    @Test
    void aRowThatCannotBeEncodedStopsNothing() throws IOException {
        Said plain = monitor("mode: auto", Runnable::run, 2);
        MonitorConfig config = WatchedFolder.createAdapting(folder, "unused:9092", ON_ARRIVAL);
        AtomicInteger tries = new AtomicInteger();
        // What windows are measured on are more rows than a batch.
        WatchedSite site = withEncoder(
                config,
                encoder -> new WatchedEncoder(encoder, rows -> {
                    if (rows <= 64) {
                        tries.incrementAndGet();
                        throw new IllegalStateException("broken");
                    }
                }));
        Said said = monitor(config, site, Runnable::run, 2, "broken");
        assertTrue(tries.get() > 0, "it was tried");
        assertSameReports(plain, said);
        assertTrue(said.sampled().stream().allMatch(row -> row.codes() == null));
    }

    private static WatchedSite withEncoder(MonitorConfig config, UnaryOperator<Encoder> change) throws IOException {
        WatchedSite site = WatchedFolder.sites(config).get(WatchedFolder.SITE);
        Explainer explainer = site.explainer();
        return WatchedSite.of(
                site.settings(),
                new Explainer(
                        explainer.architecture(),
                        change.apply(explainer.encoder()),
                        explainer.decoder(),
                        explainer.directory()),
                site.baseline());
    }

    private static List<AdaptationMessage> requests(Said said, RowSample sample) {
        AdaptationMessage.Adapt asked =
                (AdaptationMessage.Adapt) said.requests().get(said.requests().size() - 1);
        List<byte[]> parts = sample.encode(RowSample.RECORD_PART_BYTES);
        List<AdaptationMessage> messages = new ArrayList<>();
        for (int index = 0; index < parts.size(); index++) {
            messages.add(new AdaptationMessage.SamplePart(asked.windowEndMs(), index, parts.get(index)));
        }
        messages.add(new AdaptationMessage.Adapt(
                asked.windowEndMs(), asked.windowStartMs(), asked.rows(), asked.sampleCapacity(), parts.size()));
        return messages;
    }

    private static void assertSameReports(Said expected, Said found) {
        assertEquals(3, expected.reports().size());
        assertEquals(expected.reports().size(), found.reports().size());
        for (int i = 0; i < expected.reports().size(); i++) {
            assertArrayEquals(
                    expected.reports().get(i),
                    found.reports().get(i),
                    new String(found.reports().get(i), java.nio.charset.StandardCharsets.UTF_8));
        }
    }

    private Said monitor(String adaptation, Executor encoder, int seconds) throws IOException {
        MonitorConfig config = WatchedFolder.createAdapting(folder, "unused:9092", adaptation);
        WatchedSite site = WatchedFolder.sites(config).get(WatchedFolder.SITE);
        return monitor(config, site, encoder, seconds, adaptation + encoder.hashCode());
    }

    /** @param seconds that pass when the records of a window were read and before it closes */
    private Said monitor(MonitorConfig config, WatchedSite site, Executor encoder, int seconds, String state) {
        Listener listener = new Listener(waiting);
        try (Streaming stream = new Streaming(
                MonitorTopology.build(
                        config,
                        Map.of(WatchedFolder.SITE, site),
                        new Topics.Prepared(1, 1_000_000),
                        name -> null,
                        new MonitorTopology.Listeners(listener, listener, listener),
                        new Repeats(),
                        SourceWatch.ALWAYS_READ,
                        WindowWorkers.none(),
                        encoder,
                        WatchedSite.projections(Map.of(WatchedFolder.SITE, site)),
                        OutputGuard.silent(config.topics())),
                StreamsSettings.monitor(config),
                folder.resolve(Integer.toHexString(state.hashCode())))) {
            for (int window = 0; window < 4; window++) {
                for (int record = 0; record < WatchedFolder.RECORDS; record++) {
                    long time = T0 + window * WINDOW_MS + record * WINDOW_MS / WatchedFolder.RECORDS;
                    stream.send(
                            config.topics().activations(),
                            WatchedFolder.SITE,
                            ActivationRecords.blob(
                                    window == 0 ? WatchedFolder.quiet(time) : WatchedFolder.drifted(time)),
                            time);
                }
                for (int second = 0; second < seconds && window < 3; second++) {
                    stream.pass(Duration.ofSeconds(1));
                }
            }
            return new Said(
                    stream.read(config.topics().windowReports()).stream()
                            .map(TestRecord::value)
                            .toList(),
                    upToTheFirst(stream.read(config.topics().adaptationRequests()).stream()
                            .map(record -> AdaptationMessage.decode(record.value()))
                            .toList()),
                    listener.encoded);
        }
    }

    private static List<AdaptationMessage> upToTheFirst(List<AdaptationMessage> asked) {
        int first = 0;
        while (!(asked.get(first) instanceof AdaptationMessage.Adapt)) {
            first++;
        }
        return asked.subList(0, first + 1);
    }

    private Made adapter(String adaptation, List<AdaptationMessage> requests) throws IOException {
        MonitorConfig config = WatchedFolder.createAdapting(folder, "unused:9092", adaptation);
        Map<String, WatchedSite> sites = WatchedFolder.sites(config);
        int[] counts = new int[2];
        AdaptationListener listener = new AdaptationListener() {
            @Override
            public void onAdaptation(AdaptationReport report) {}

            @Override
            public void onSample(String site, int early, int late) {
                counts[0] += early;
                counts[1] += late;
            }
        };
        try (Streaming stream = new Streaming(
                AdapterTopology.build(config, sites, site -> null, AdapterRequests.NO_CANDIDATES, listener),
                StreamsSettings.adapter(config),
                folder.resolve("adapter-" + requests.hashCode()))) {
            for (AdaptationMessage request : requests) {
                stream.send(config.topics().adaptationRequests(), WatchedFolder.SITE, request.encode(), T0);
            }
            Decoder trained = sites.get(WatchedFolder.SITE).explainer().decoder();
            String sha256 = AssembledDecoders.of(stream.read(config.topics().decoders()), WatchedFolder.SITE, trained)
                    .get(0)
                    .decoder()
                    .sha256();
            return new Made(sha256, counts[0], counts[1]);
        }
    }

    private static final class Listener implements IngestListener, WindowListener, DriftListener {

        private final Deque<Runnable> waiting;
        private int encoded;

        Listener(Deque<Runnable> waiting) {
            this.waiting = waiting;
        }

        @Override
        public void onEncoded(String site, int rows, long nanoseconds) {
            encoded += rows;
        }

        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {}

        @Override
        public void onLate(String site, long rows, LateReason reason) {}

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {
            waiting.forEach(Runnable::run);
            waiting.clear();
        }

        @Override
        public void onWindowClosed(String site, long rows) {}

        @Override
        public void onReport(WindowReport report, long nanoseconds) {}

        @Override
        public void onSiteReleased(String site) {}
    }
}
