package io.plumbline.topology.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests records whose key need not be their site: the same integer rows over any number of partitions and instances are
 * the same reports, byte for byte, through the whole topology. With random keys partitions get unequal shares and are
 * read at unequal speed; a window that did not wait for the slowest would miss rows. The row sample is smaller than a
 * window here, so that FVU depends on which rows are in it.
 */
class SpreadSiteIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int WINDOWS = 8;
    private static final int RECORDS_PER_SECOND = 96;
    private static final int ROWS = 3;
    private static final int SITES = 4;
    private static final int WIDTH = 24;
    private static final int FEATURES = 40;
    private static final long ADVANCE_MS = 1_000;
    private static final long SIZE_MS = 2_000;
    private static final int SAMPLE = 20;

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static BrokerClient client;
    private static Map<String, WatchedSite> sites;
    private static Map<String, String> ofOnePartition;

    @BeforeAll
    static void start() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        sites = RandomSites.watched(config(1), WIDTH, FEATURES);
        ofOnePartition = reports(1, 1);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @ParameterizedTest(name = "{0} partitions, {1} instances")
    @CsvSource({"2, 1", "4, 2", "8, 3"})
    void anyPartitioningGivesTheSameReports(int partitions, int instances) throws Exception {
        assertEquals(ofOnePartition, reports(partitions, instances));
    }

    @Test
    void theReportsAreThoseOfTheRowsThatWereSent() throws Exception {
        TreeMap<String, SecondMomentAccumulator> truth = new TreeMap<>();
        records(1, truth);
        assertEquals(truth.keySet(), ofOnePartition.keySet());
        for (Map.Entry<String, SecondMomentAccumulator> window : truth.entrySet()) {
            String site = window.getKey().substring(0, window.getKey().indexOf('@'));
            GapAssessment expected =
                    sites.get(site).geometry().assess(window.getValue().snapshot());
            JsonNode report = new ObjectMapper().readTree(ofOnePartition.get(window.getKey()));
            assertEquals(expected.rows(), report.get("rows").asLong(), window.getKey());
            assertEquals(
                    expected.value(Statistic.SECOND_MOMENT_SHIFT).orElseThrow(),
                    report.get("second_moment_shift").asDouble(),
                    window.getKey());
            assertEquals(
                    expected.value(Statistic.FAITHFULNESS_GAP).orElseThrow(),
                    report.get("faithfulness_gap").asDouble(),
                    window.getKey());
            assertTrue(report.get("reconstruction_fvu").asDouble() > 0, report.toString());
            assertTrue(report.get("request_shift").asDouble() > 0, report.toString());
            assertTrue(report.get("requests_scored").asLong() > 20, report.toString());
            assertEquals(5, report.get("worst_requests").size(), report.toString());
        }
    }

    /** Tests two producers a site that sum what would be most of the records; the others come as rows. */
    @Test
    void momentsOfTheSameRowsGiveTheSameReports() throws Exception {
        Map<String, String> found = reports(3, 2, true);
        assertEquals(ofOnePartition.keySet(), found.keySet());
        ObjectMapper json = new ObjectMapper();
        for (Map.Entry<String, String> window : ofOnePartition.entrySet()) {
            ObjectNode expected = (ObjectNode) json.readTree(window.getValue());
            ObjectNode report = (ObjectNode) json.readTree(found.get(window.getKey()));
            assertTrue(report.get("moment_records").asLong() > 0, report.toString());
            assertTrue(report.get("requests_scored").asLong() > 20, report.toString());
            assertEquals(expected.without("moment_records"), report.without("moment_records"), window.getKey());
        }
    }

    private static Map<String, String> reports(int partitions, int instances) throws Exception {
        return reports(partitions, instances, false);
    }

    /** Reports of complete windows by site and start, as they lie on the topic. */
    private static Map<String, String> reports(int partitions, int instances, boolean moments) throws Exception {
        MonitorConfig config = config(partitions);
        client.createTopic(config.topics().activations(), partitions, Map.of("retention.ms", "-1"));
        TreeMap<String, SecondMomentAccumulator> truth = new TreeMap<>();
        List<ProducerRecord<byte[], byte[]>> rows = records(partitions, truth);
        client.send(moments ? summed(rows) : rows);
        List<MonitorInstance> started = new ArrayList<>();
        try {
            for (int i = 0; i < instances; i++) {
                started.add(
                        MonitorInstance.start(config, sites, folder.resolve("state-%d-%d".formatted(partitions, i))));
            }
            List<ConsumerRecord<byte[], byte[]>> reports =
                    client.await(config.topics().windowReports(), found -> found.size() >= truth.size());
            TreeMap<String, String> found = new TreeMap<>();
            for (ConsumerRecord<byte[], byte[]> report : reports) {
                JsonNode json = new ObjectMapper().readTree(report.value());
                found.put(
                        json.get("site").asText() + "@"
                                + json.get("window_start_ms").asLong(),
                        new String(report.value(), StandardCharsets.UTF_8));
            }
            assertEquals(truth.size(), reports.size(), "each window once");
            for (MonitorInstance instance : started) {
                assertEquals(List.of(), instance.failures);
                assertEquals(0, instance.lateRows.get());
            }
            return found;
        } finally {
            started.forEach(MonitorInstance::close);
        }
    }

    private static MonitorConfig config(int partitions) {
        return new RandomSites.Setting(
                        broker.bootstrapServers(),
                        "spread-%d-".formatted(partitions),
                        "size: 2s, advance: 1s, grace: 0s, idle_close: off, minimum_rows: 16",
                        SAMPLE,
                        "memory",
                        "commit.interval.ms: 300, main.consumer.max.poll.records: 40")
                .of(List.of("hot", "site-1", "site-2", "site-3"), 4, folder);
    }

    /**
     * Returns the same rows whatever the partitions, half of them of one site. At the end every site says on every
     * partition that time went on, in rows of windows that never close.
     *
     * @param truth gets the moments of all windows that close
     */
    private static List<ProducerRecord<byte[], byte[]>> records(
            int partitions, Map<String, SecondMomentAccumulator> truth) {
        String topic = config(partitions).topics().activations();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        SplittableRandom keys = new SplittableRandom(4);
        long end = T0 + WINDOWS * ADVANCE_MS;
        for (int i = 0; i < WINDOWS * RECORDS_PER_SECOND; i++) {
            int index = i % 2 == 0 ? 0 : i % SITES;
            String site = index == 0 ? "hot" : "site-" + index;
            long timestamp = T0 + i * ADVANCE_MS / RECORDS_PER_SECOND;
            Matrix rows = ActivationRecords.integerRows(i, ROWS, WIDTH);
            for (long start = timestamp / ADVANCE_MS * ADVANCE_MS - SIZE_MS + ADVANCE_MS;
                    start <= timestamp;
                    start += ADVANCE_MS) {
                truth.computeIfAbsent(site + "@" + start, window -> SecondMomentAccumulator.ofDimension(WIDTH))
                        .add(rows);
            }
            byte[] key = ByteBuffer.allocate(8).putLong(keys.nextLong()).array();
            ProducerRecord<byte[], byte[]> record = record(topic, null, timestamp, key, site, rows);
            // Of some requests there are records on several partitions and in several panes; their sums must not depend
            // on the order.
            if (i % 5 != 0) {
                record.headers().add("request", ("chat-" + i % 50).getBytes(StandardCharsets.UTF_8));
            }
            records.add(record);
        }
        for (String site : config(partitions).sites().keySet()) {
            for (int partition = 0; partition < partitions; partition++) {
                Matrix rows = ActivationRecords.integerRows(partition, 1, WIDTH);
                records.add(record(topic, partition, end + 2 * SIZE_MS, null, site, rows));
            }
        }
        return records;
    }

    /**
     * Returns most of the records as moments of a quarter of a second, each before the first row that is later than it.
     */
    private static List<ProducerRecord<byte[], byte[]>> summed(List<ProducerRecord<byte[], byte[]>> rows) {
        List<ProducerRecord<byte[], byte[]>> sent = new ArrayList<>();
        Map<String, MomentAccumulator> producers = new TreeMap<>();
        SplittableRandom keys = new SplittableRandom(5);
        for (ProducerRecord<byte[], byte[]> record : rows) {
            producers.values().forEach(producer -> producer.flushBefore(record.timestamp()));
            int producer = keys.nextInt(3);
            if (producer == 2 || record.partition() != null) {
                sent.add(record);
                continue;
            }
            String site = header(record, "site");
            MomentAccumulator accumulator = producers.computeIfAbsent(
                    site + producer,
                    name -> MomentAccumulator.of(
                            new MomentAccumulator.Settings(
                                    WIDTH, null, RowMask.NONE, 250, 0, SAMPLE, DType.F64, Long.MAX_VALUE),
                            (timestamp, value, headers) -> {
                                byte[] key = ByteBuffer.allocate(8)
                                        .putLong(keys.nextLong())
                                        .array();
                                ProducerRecord<byte[], byte[]> moment =
                                        new ProducerRecord<>(record.topic(), null, timestamp, key, value);
                                moment.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
                                sent.add(moment);
                            }));
            String request = header(record, "request");
            accumulator.add(
                    ActivationBatch.parse(record.value()),
                    request,
                    record.timestamp(),
                    RowSample.recordHash(
                            record.value(),
                            record.timestamp(),
                            request == null ? null : request.getBytes(StandardCharsets.UTF_8)));
        }
        producers.values().forEach(MomentAccumulator::close);
        return sent;
    }

    private static String header(ProducerRecord<byte[], byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    private static ProducerRecord<byte[], byte[]> record(
            String topic, Integer partition, long timestamp, byte[] key, String site, Matrix rows) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, partition, timestamp, key, ActivationRecords.blob(rows));
        record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
        return record;
    }
}
