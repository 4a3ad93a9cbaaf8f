package io.plumbline.topology.operate;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.jspecify.annotations.Nullable;

/**
 * Reads every committed report that lay on its topic when it was asked, in the order of each partition. One thread.
 *
 * @param <T> what a report is
 */
final class ReportHistory<T> {

    private final MonitorConfig config;
    private final String topic;
    private final Class<T> type;
    private final Consumer<TargetsReport> targetsTaker;
    private final Consumer<ModelReport> modelTaker;
    private long foreign;
    private @Nullable String firstForeign;

    ReportHistory(MonitorConfig config, String topic, Class<T> type) {
        this(config, topic, type, targets -> {}, model -> {});
    }

    /**
     * @param targetsTaker takes the reports about all targets of a site with several, between those of windows
     * @param modelTaker takes those of models
     */
    ReportHistory(
            MonitorConfig config,
            String topic,
            Class<T> type,
            Consumer<TargetsReport> targetsTaker,
            Consumer<ModelReport> modelTaker) {
        this.config = config;
        this.topic = topic;
        this.type = type;
        this.targetsTaker = targetsTaker;
        this.modelTaker = modelTaker;
    }

    /** Returns whether the topic exists: a program that was never started made none. */
    boolean isThere() {
        return Brokers.topics(config.adminProperties()).contains(topic);
    }

    /**
     * Reads them all, with a bar on a terminal.
     *
     * @throws UsageException when broker or topic is not there
     * @throws IllegalStateException when the topic gives nothing for a minute
     */
    void forEach(Consumer<T> taker) {
        read(record -> take(record, taker));
    }

    /**
     * Reads the last record of each key, as {@link #forEach} reads all: a topic that is compacted may hold earlier
     * ones too. A key whose last value is null has none.
     */
    void forEachKey(Consumer<T> taker) {
        Map<String, T> last = new LinkedHashMap<>();
        read(record -> {
            String key = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
            last.remove(key);
            if (record.value() != null) {
                take(record, report -> last.put(key, report));
            }
        });
        last.values().forEach(taker);
    }

    private void read(Consumer<ConsumerRecord<byte[], byte[]>> taker) {
        if (!isThere()) {
            throw new UsageException(
                    "topic %s does not exist at %s: nothing was ever reported under the topics of this configuration"
                            .formatted(topic, config.bootstrapServers()));
        }
        try (TopicReader reader = TopicReader.open(config.subscriberProperties(), Map.of())) {
            reader.assign(reader.partitions(topic));
            try (Progress progress = Progress.of("reading", reader.offsets(), " reports")) {
                reader.toEnd("nothing was written, run it again", record -> {
                    taker.accept(record);
                    progress.advance(1);
                });
            }
        } catch (OffsetOutOfRangeException deleted) {
            throw new IllegalStateException(
                    "topic %s deleted reports while they were read (%s); nothing was written, run it again"
                            .formatted(topic, deleted.getMessage()),
                    deleted);
        }
    }

    /**
     * Reads the windows of these sites in the period; returns how many there were.
     *
     * @param sites none: every site
     * @param out what is not written where there is no window
     * @throws UsageException when there is no such window
     */
    static long forEachWindow(
            ReportHistory<WindowReport> reports,
            Period period,
            Collection<String> sites,
            Path out,
            Consumer<WindowReport> taker) {
        Set<String> found = new TreeSet<>();
        long[] windows = {0};
        reports.forEach(report -> {
            found.add(report.header().site());
            if ((sites.isEmpty() || sites.contains(report.header().site()))
                    && period.holds(report.header().windowEndMs())) {
                taker.accept(report);
                windows[0]++;
            }
        });
        if (windows[0] == 0) {
            String problem = reports.problem();
            throw new UsageException(
                    "no window of %s in the range on topic %s, which has windows of %s; %s was not written%s"
                            .formatted(
                                    sites.isEmpty() ? "any site" : String.join(", ", sites),
                                    reports.topic,
                                    found.isEmpty() ? "none" : String.join(", ", found),
                                    out,
                                    problem == null ? "" : "; " + problem));
        }
        return windows[0];
    }

    private void take(ConsumerRecord<byte[], byte[]> record, Consumer<T> taker) {
        byte[] value = record.value() == null ? new byte[0] : record.value();
        Runnable told;
        try {
            if (record.headers().lastHeader(ModelReport.HEADER) != null) {
                ModelReport model = Json.read(value, ModelReport.class);
                told = () -> modelTaker.accept(model);
            } else if (record.headers().lastHeader(TargetsReport.HEADER) != null) {
                TargetsReport targets = Json.read(value, TargetsReport.class);
                told = () -> targetsTaker.accept(targets);
            } else {
                T report = Json.read(value, type);
                told = () -> taker.accept(report);
            }
        } catch (IllegalArgumentException notOne) {
            foreign++;
            if (firstForeign == null) {
                firstForeign = "%s-%d@%d: %s"
                        .formatted(
                                record.topic(),
                                record.partition(),
                                record.offset(),
                                String.valueOf(notOne.getMessage())
                                        .lines()
                                        .findFirst()
                                        .orElse(""));
            }
            return;
        }
        told.run();
    }

    /** A sentence about records that are no reports; null when all were. */
    @Nullable
    String problem() {
        return foreign == 0
                ? null
                : "%s of %s %s no %s and left out, the first at %s"
                        .formatted(
                                Amounts.count(foreign, "record"),
                                topic,
                                foreign == 1 ? "is" : "are",
                                foreign == 1 ? "report" : "reports",
                                firstForeign);
    }
}
