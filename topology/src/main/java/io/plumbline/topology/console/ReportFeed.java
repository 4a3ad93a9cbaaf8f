package io.plumbline.topology.console;

import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.TopicFollower;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.wire.Printable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows window reports and adaptation reports, committed ones, from some way back: what happened before this process
 * started, and what other instances judge. One daemon thread; no consumer group.
 *
 * <p><b>Where this principal may not read them</b> the console shows what this process judges itself; said once in the
 * log, and on the page. A broker that is away is asked again every few seconds.
 */
final class ReportFeed implements TopicFollower.Steps, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ReportFeed.class);

    /** The most records that are read at the start: some 150 MB, whatever lies there. */
    private static final long MOST_RECORDS = 20_000;

    private final MonitorConfig config;
    private final ConsoleModel model;
    private final long mostRecords;
    private @Nullable TopicFollower follower;
    private @Nullable String said;
    private boolean caughtUp;

    private ReportFeed(MonitorConfig config, ConsoleModel model, ConsoleLimits limits) {
        this.config = config;
        this.model = model;
        mostRecords =
                Math.min(MOST_RECORDS, (long) limits.windows() * config.sites().size());
    }

    static ReportFeed start(MonitorConfig config, ConsoleModel model, ConsoleLimits limits) {
        ReportFeed feed = new ReportFeed(config, model, limits);
        feed.follower = TopicFollower.start(
                "console-reports", config.subscriberProperties(), config.applicationId() + "-console", feed);
        return feed;
    }

    @Override
    public boolean isAskedAgain(RuntimeException why) {
        if (why instanceof AuthorizationException) {
            String sentence = ("this process may not read %s and %s: it shows the windows it judged since it started; "
                            + "grant it READ on both topics for the windows before and of other "
                            + "instances")
                    .formatted(config.topics().windowReports(), config.topics().adaptationReports());
            LOG.warn(
                    "the console may not read its topics and shows the windows that this process judged since "
                            + "it started: reason={}\n"
                            + "grant it READ on {} and {} for the windows before and of other "
                            + "instances",
                    Printable.value(why.getMessage()),
                    config.topics().windowReports(),
                    config.topics().adaptationReports());
            model.pastIs(new ConsoleModel.Past("refused", sentence));
            return false;
        }
        sayOnce(String.valueOf(why.getMessage()));
        return true;
    }

    /** Says why nothing can be read, and not at every try. */
    private void sayOnce(String reason) {
        if (!reason.equals(said)) {
            said = reason;
            LOG.warn(
                    "the console cannot read reports and asks again: every_s={} reason={}",
                    TopicFollower.PAUSE.toSeconds(),
                    Printable.value(reason));
        }
    }

    @Override
    public void read(TopicReader reader) {
        ConsumerRecords<byte[], byte[]> records = reader.poll(TopicFollower.POLL);
        if (records.isEmpty()) {
            requireTopics(reader);
        } else {
            said = null;
        }
        records.forEach(this::take);
        if (!caughtUp && reader.isAtEnd()) {
            caughtUp = true;
            model.pastIs(new ConsoleModel.Past("complete", ""));
        }
    }

    /** Goes some way back on every partition. */
    @Override
    public void begin(TopicReader reader) {
        caughtUp = false;
        List<TopicPartition> all =
                new ArrayList<>(reader.partitions(config.topics().windowReports()));
        all.addAll(reader.partitions(config.topics().adaptationReports()));
        if (all.isEmpty()) {
            throw new IllegalStateException(
                    "topic \"%s\" does not exist".formatted(config.topics().windowReports()));
        }
        reader.assign(all);
        Map<TopicPartition, Long> begins = reader.begin();
        // Every transaction takes an offset of its own, and a site's reports lie in one partition.
        reader.end()
                .forEach((partition, end) ->
                        reader.beginAt(partition, Math.max(begins.getOrDefault(partition, 0L), end - 2 * mostRecords)));
    }

    /** Requires the topics that are read to be there: of one that is gone the client would ask without end. */
    private static void requireTopics(TopicReader reader) {
        reader.end().keySet().stream().map(TopicPartition::topic).distinct().forEach(topic -> {
            if (reader.partitions(topic).isEmpty()) {
                throw new IllegalStateException("topic \"%s\" does not exist".formatted(topic));
            }
        });
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null || record.headers().lastHeader(TargetsReport.HEADER) != null) {
            return;
        }
        try {
            if (record.headers().lastHeader(ModelReport.HEADER) != null) {
                model.model(Json.read(record.value(), ModelReport.class));
                return;
            }
            if (record.topic().equals(config.topics().windowReports())) {
                WindowReport report = Json.read(record.value(), WindowReport.class);
                Header account = record.headers().lastHeader(WindowReport.ACCOUNT_HEADER);
                if (account != null) {
                    model.account(report.header().site(), Json.read(account.value(), RowAccount.class));
                }
                model.window(report);
            } else {
                model.adaptation(Json.read(record.value(), AdaptationReport.class));
            }
        } catch (IllegalArgumentException | NullPointerException foreign) {
            LOG.debug(
                    "a record is no report and was left out: topic={} partition={} offset={} reason={}",
                    record.topic(),
                    record.partition(),
                    record.offset(),
                    Printable.value(foreign.getMessage()));
        }
    }

    @Override
    public void close() {
        if (follower != null) {
            follower.close();
        }
    }
}
