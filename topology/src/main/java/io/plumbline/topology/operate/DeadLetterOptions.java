package io.plumbline.topology.operate;

import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.KeptLetter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which dead letters to replay, and how. */
final class DeadLetterOptions {

    private static final Pattern OFFSETS = Pattern.compile("(\\d{1,18})-(\\d{1,18})");

    @Option(
            names = "--dead-letters",
            arity = "0..1",
            paramLabel = "TOPIC",
            description = "Replay the letters of this topic. Without a name: what the configuration file calls it,"
                    + " otherwise dead-letters.")
    @Nullable
    String topic;

    @Option(names = "--reason", paramLabel = "REASON", description = "Only letters of this reason. May be repeated.")
    List<String> reasons = new ArrayList<>();

    @Option(names = "--since", paramLabel = "INSTANT", description = "Only what was refused at this time or later.")
    @Nullable
    String since;

    @Option(names = "--until", paramLabel = "INSTANT", description = "Only what was refused before this time.")
    @Nullable
    String until;

    @Option(names = "--partition", paramLabel = "N", description = "Only this partition of the dead-letter topic.")
    @Nullable
    Integer partition;

    @Option(
            names = "--offsets",
            paramLabel = "FIRST-LAST",
            description = "Only these offsets of --partition, such as 100-250, both included.")
    @Nullable
    String offsets;

    @Option(names = "--dry-run", description = "Say what would be sent, and why it was refused; send nothing.")
    boolean dryRun;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "Remembers what was sent, so that no later run of this group sends it again."
                    + " Default: plumbline-replay.")
    String group = "plumbline-replay";

    @Option(names = "--from-beginning", description = "Forget what the group has sent, and send it again.")
    boolean fromBeginning;

    /** Says which letters are meant. */
    record Selection(
            List<String> reasons,
            List<String> sites,
            long sinceMs,
            long untilMs,
            @Nullable Integer partition,
            long firstOffset,
            long lastOffset) {

        boolean takesPartition(int number) {
            return partition == null || partition == number;
        }

        /** Returns whether a record lies in the partition, the offsets and the times that are meant. */
        boolean takesPlace(ConsumerRecord<byte[], byte[]> record) {
            return takesPartition(record.partition())
                    && record.offset() >= firstOffset
                    && record.offset() <= lastOffset
                    && record.timestamp() >= sinceMs
                    && record.timestamp() < untilMs;
        }

        boolean takes(ConsumerRecord<byte[], byte[]> record, KeptLetter letter) {
            return takesPlace(record)
                    && (reasons.isEmpty() || reasons.contains(letter.reason()))
                    && (sites.isEmpty() || sites.contains(letter.site(record.key())));
        }
    }

    Selection selection(List<String> sites) {
        long first = 0;
        long last = Long.MAX_VALUE;
        if (offsets != null) {
            Matcher matcher = OFFSETS.matcher(offsets);
            if (partition == null || !matcher.matches()) {
                throw new UsageException(
                        "--offsets = %s: expected FIRST-LAST, such as 100-250, beside --partition".formatted(offsets));
            }
            first = Long.parseLong(matcher.group(1));
            last = Long.parseLong(matcher.group(2));
        }
        List<String> known = Arrays.stream(DeadLetter.Reason.values())
                .map(DeadLetter.Reason::label)
                .toList();
        for (String reason : reasons) {
            if (!known.contains(reason)) {
                throw new UsageException(
                        "--reason = %s: expected one of %s".formatted(reason, String.join(", ", known)));
            }
        }
        return new Selection(
                List.copyOf(reasons),
                List.copyOf(sites),
                since == null ? Long.MIN_VALUE : millis("--since", since),
                until == null ? Long.MAX_VALUE : millis("--until", until),
                partition,
                first,
                last);
    }

    private static long millis(String option, String text) {
        Instant instant = Options.instant(option, text);
        return instant.toEpochMilli();
    }
}
