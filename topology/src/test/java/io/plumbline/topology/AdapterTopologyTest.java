package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.AssembledDecoders;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongFunction;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdapterTopologyTest {

    private static final int CAPACITY = AdapterRequests.CAPACITY;
    private static final long START = AdapterRequests.START;
    private static final long END = START + 10_000;

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private Map<String, WatchedSite> sites;
    private Streaming stream;
    private ActiveDecoders.Active active;
    private final List<AdaptationReport> heard = new ArrayList<>();
    private int foreign;

    @BeforeEach
    void start() throws IOException {
        WatchedFolder.create(folder, "unused:9092");
        config = WatchedFolder.cooling(folder, "0s");
        sites = WatchedFolder.sites(config);
        stream = new Streaming(topology(), StreamsSettings.adapter(config), folder.resolve("state"));
    }

    private Topology topology() {
        return AdapterTopology.build(
                config, sites, site -> active, AdapterRequests.NO_CANDIDATES, new AdaptationListener() {
                    @Override
                    public void onAdaptation(AdaptationReport report) {
                        heard.add(report);
                    }

                    @Override
                    public void onForeign() {
                        foreign++;
                    }
                });
    }

    @AfterEach
    void stop() {
        stream.close();
    }

    @Test
    void wiringIsThatOfTheReviewedFile() throws IOException {
        assertEquals(MonitorTopologyTest.reviewed("adapter-topology.txt"), MonitorTopologyTest.description(topology()));
    }

    @Test
    void aDriftedWindowBecomesADecoderThatASubscriberAccepts() throws IOException {
        request(END, WatchedFolder::drifted);
        List<TestRecord<byte[], byte[]>> records = stream.read(config.topics().decoders());
        assertEquals(
                List.of(WatchedFolder.SITE + "#0", WatchedFolder.SITE, WatchedFolder.SITE + "#swaps#0"),
                records.stream()
                        .map(record -> new String(record.key(), StandardCharsets.UTF_8))
                        .toList(),
                "chunks, the manifest behind them, and where the adapter stands");
        PublishedDecoder published = assembled(records).get(0);
        assertEquals(1, published.version());
        assertEquals(DecoderKind.ADAPTED, published.manifest().kind());
        Map<String, String> lineage = published.manifest().lineage();
        assertEquals(Long.toString(END), lineage.get("window_end_ms"));
        assertTrue(
                lineage.keySet().containsAll(List.of("fvu_before", "fvu_after", "candidate", "rows")),
                () -> "" + lineage);
        AdaptationReport report = reports().get(0);
        assertEquals(Outcome.PUBLISHED, report.outcome());
        assertEquals(1, report.version());
        assertTrue(report.fvuAfter() < 0.5 * report.fvuBefore(), report.toString());
        int distinct = Objects.requireNonNull(report.gate()).publishedRows();
        assertEquals(WatchedFolder.ROWS * WatchedFolder.RECORDS, distinct, 2, "all but what repeats");
        assertEquals(
                distinct - WatchedFolder.ROWS,
                report.fitRows() + report.validationRows(),
                1,
                "all but the request between them");
        assertEquals(List.of(report), heard);
        // The decoder itself says what it was chosen among and what the gate found.
        JsonNode rivals = new ObjectMapper().readTree(lineage.get("candidates"));
        assertEquals(report.candidates().size(), rivals.size());
        assertEquals(
                report.candidates().get(1).fvuValidation(),
                rivals.get(1).path("fvu_validation").asDouble());
        JsonNode gate = new ObjectMapper().readTree(lineage.get("gate"));
        assertEquals("improvement", gate.path("tests").path(0).path("name").asText());
        assertTrue(gate.path("fvu_in_distribution_after").isNumber(), gate::toString);
    }

    @ParameterizedTest
    @CsvSource({"f64, F64", "bf16, BF16", "f16, F16"})
    void decodersTravelInTheConfiguredTypeAndTheTrainedOneReturnsAsItself(String configured, DType dtype)
            throws IOException {
        stream.close();
        WatchedFolder.create(folder, "unused:9092", configured);
        config = WatchedFolder.cooling(folder, "0s");
        sites = WatchedFolder.sites(config);
        stream = new Streaming(topology(), StreamsSettings.adapter(config), folder.resolve("state-" + configured));
        request(END, WatchedFolder::drifted);
        revert(END + 20_000);
        List<PublishedDecoder> published = assembled(stream.read(config.topics().decoders()));
        assertEquals(2, published.size(), () -> reports().toString());
        assertEquals(dtype, published.get(0).dtype());
        // 0.2 of the trained decoder is no half: it returns in the float32 it was trained in.
        assertEquals(
                dtype == DType.F64 ? DType.F64 : DType.F32, published.get(1).dtype());
        assertEquals(trained().sha256(), published.get(1).decoder().sha256());
        active = new ActiveDecoders.Active(published.get(1).decoder(), 2);
        revert(END + 30_000);
        assertEquals(List.of(), stream.read(config.topics().decoders()), "the trained decoder is in service");
    }

    @Test
    void versionsGrowAndARevertBringsTheTrainedDecoderBackOnce() {
        request(END, WatchedFolder::drifted);
        revert(END + 10_000);
        revert(END + 20_000);
        request(END + 30_000, seed -> WatchedFolder.drifted(seed + 1));
        revert(END + 40_000);
        List<PublishedDecoder> published = assembled(stream.read(config.topics().decoders()));
        assertEquals(
                List.of(1L, 2L, 3L, 4L),
                published.stream().map(PublishedDecoder::version).toList());
        PublishedDecoder last = published.get(3);
        assertEquals(DecoderKind.TRAINED, last.manifest().kind());
        assertEquals(trained().sha256(), last.decoder().sha256());
        assertEquals("3", last.manifest().lineage().get("reverts_version"));
        assertEquals(
                List.of(Outcome.PUBLISHED, Outcome.REVERTED, Outcome.PUBLISHED, Outcome.REVERTED),
                reports().stream().map(AdaptationReport::outcome).toList());
    }

    @Test
    void whatDoesNotImproveIsReportedAndNotPublished() {
        request(END, WatchedFolder::quiet);
        assertEquals(List.of(), stream.read(config.topics().decoders()));
        AdaptationReport report = reports().get(0);
        assertTrue(List.of(Outcome.KEPT, Outcome.REFUSED).contains(report.outcome()), report.toString());
        assertEquals(0, report.version());
    }

    /** Tests a request right after a revert: against the decoder it had made before, it would be kept. */
    @Test
    void aRequestRightAfterARevertIsJudgedAgainstTheTrainedDecoderThoughNoReaderHasItYet() {
        request(END, WatchedFolder::drifted);
        active = new ActiveDecoders.Active(
                assembled(stream.read(config.topics().decoders())).get(0).decoder(), 1);
        revert(END + 10_000);
        request(END + 20_000, seed -> WatchedFolder.drifted(seed - 20_000));
        request(END + 30_000, WatchedFolder::drifted);
        List<AdaptationReport> reports = reports();
        assertEquals(
                List.of(Outcome.PUBLISHED, Outcome.REVERTED, Outcome.PUBLISHED),
                reports.stream().map(AdaptationReport::outcome).limit(3).toList(),
                reports::toString);
        assertEquals(reports.get(0).fvuBefore(), reports.get(2).fvuBefore(), 1e-9);
        assertTrue(
                reports.get(3).fvuBefore() < 0.7 * reports.get(2).fvuBefore(),
                "and the next against what that one made");
    }

    @Test
    void versionsGoOnWhereTheTopicStandsWhenTheStoreIsNew() {
        active = new ActiveDecoders.Active(halved(), 41);
        request(END, WatchedFolder::drifted);
        revert(END + 10_000);
        assertEquals(
                List.of(42L, 43L),
                assembled(stream.read(config.topics().decoders())).stream()
                        .map(PublishedDecoder::version)
                        .toList(),
                "our own count is ahead of what was read back");
    }

    @Test
    void anAdaptedDecoderOfALostStoreIsRevertedAndATrainedOneIsLeft() {
        active = new ActiveDecoders.Active(halved(), 41);
        revert(END);
        assertEquals(42, reports().get(0).version());
        active = new ActiveDecoders.Active(trained(), 50);
        revert(END + 10_000);
        assertEquals(List.of(), reports());
    }

    @Test
    void withoutAnAdaptedDecoderThereIsNothingToRevert() {
        revert(END);
        assertEquals(List.of(), stream.read(config.topics().decoders()));
        assertEquals(List.of(), reports());
    }

    @Test
    void aMissingPartFailsItsRequestAndTheNextIsAnswered() {
        RowSample sample = AdapterRequests.sample(END, WatchedFolder.RECORDS, WatchedFolder::drifted);
        send(new AdaptationMessage.SamplePart(
                END - 10_000, 0, sample.encode(500_000).get(0)));
        send(AdapterRequests.adapt(END, 128, CAPACITY, 1));
        send(AdapterRequests.adapt(END, 128, CAPACITY, 3));
        send(AdapterRequests.adapt(END, 128, CAPACITY, -1));
        request(END, WatchedFolder::drifted);
        List<AdaptationReport> reports = reports();
        assertEquals(
                List.of(Outcome.FAILED, Outcome.FAILED, Outcome.FAILED, Outcome.PUBLISHED),
                reports.stream().map(AdaptationReport::outcome).toList());
        assertTrue(
                reports.get(0).reason().contains("part 0 of the 1 part of"),
                reports.get(0).reason());
    }

    @Test
    void foreignRecordsAreCountedAndSkippedAndAPartThatIsNoneFailsItsRequest() {
        String requests = config.topics().adaptationRequests();
        stream.send(requests, (byte[]) null, new byte[] {1}, 0);
        stream.send(requests, WatchedFolder.SITE, null, 0);
        stream.send(requests, WatchedFolder.SITE, new byte[0], 0);
        stream.send(requests, WatchedFolder.SITE, "not a message".getBytes(StandardCharsets.UTF_8), 0);
        assertEquals(4, foreign);
        stream.send(requests, "another", new AdaptationMessage.Revert(END).encode(), 0);
        send(new AdaptationMessage.SamplePart(END, 0, new byte[] {9, 9, 9}));
        send(AdapterRequests.adapt(END, 128, CAPACITY, 1));
        RowSample wide = RowSample.ofCapacity(CAPACITY);
        for (int i = 0; i < 64; i++) {
            float[] values = new float[WatchedFolder.WIDTH + 1];
            values[i % values.length] = 1 + i;
            wide.offer(i, i / 4, i / 4, values, null);
        }
        send(new AdaptationMessage.SamplePart(END, 0, wide.encode(500_000).get(0)));
        send(AdapterRequests.adapt(END, 64, Integer.MAX_VALUE, 1));
        request(END, WatchedFolder::drifted);
        assertEquals(
                List.of(Outcome.FAILED, Outcome.FAILED, Outcome.PUBLISHED),
                reports().stream().map(AdaptationReport::outcome).toList());
    }

    @Test
    void rowsOfOneRequestCannotBeCheckedAndWaitForMore() {
        RowSample one = RowSample.ofCapacity(CAPACITY);
        for (int i = 0; i < 64; i++) {
            one.offer(i, 5, 5, new float[WatchedFolder.WIDTH], null);
        }
        send(new AdaptationMessage.SamplePart(END, 0, one.encode(500_000).get(0)));
        send(AdapterRequests.adapt(END, 64, CAPACITY, 1));
        AdaptationReport report = reports().get(0);
        assertEquals(Outcome.POOLED, report.outcome());
        assertTrue(report.reason().startsWith("1 distinct request, expected at least 16"), report.reason());
    }

    @Test
    void rowsWithoutVarianceAreAnsweredInNumbersOrNull() {
        RowSample still = RowSample.ofCapacity(CAPACITY);
        for (int i = 0; i < 64; i++) {
            still.offer(i, i / 8, i / 8, new float[WatchedFolder.WIDTH], null);
        }
        send(new AdaptationMessage.SamplePart(END, 0, still.encode(500_000).get(0)));
        send(AdapterRequests.adapt(END, 64, CAPACITY, 1));
        String json = new String(
                stream.read(config.topics().adaptationReports()).get(0).value(), StandardCharsets.UTF_8);
        assertTrue(!json.contains("NaN") && !json.contains("Infinity"), json);
        assertEquals(List.of(), stream.read(config.topics().decoders()));
    }

    private void request(long endMs, LongFunction<Matrix> rows) {
        AdapterRequests.adapt(endMs, rows).forEach(this::send);
    }

    private void revert(long endMs) {
        send(new AdaptationMessage.Revert(endMs));
    }

    private void send(AdaptationMessage message) {
        stream.send(config.topics().adaptationRequests(), WatchedFolder.SITE, message.encode(), END);
    }

    private List<AdaptationReport> reports() {
        return stream.read(config.topics().adaptationReports()).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class))
                .toList();
    }

    private Decoder halved() {
        return new Decoder(
                trained().weights().toMatrix().plus(-0.5, trained().weights().toMatrix()),
                trained().bias());
    }

    private Decoder trained() {
        return sites.get(WatchedFolder.SITE).explainer().decoder();
    }

    private List<PublishedDecoder> assembled(List<TestRecord<byte[], byte[]>> records) {
        return AssembledDecoders.of(records, WatchedFolder.SITE, trained());
    }
}
