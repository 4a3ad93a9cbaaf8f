package io.plumbline.topology.operate;

import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.erasure.RequestTrace;
import io.plumbline.topology.operate.RequestErasure.Found;
import io.plumbline.topology.operate.RequestErasure.Kind;
import io.plumbline.topology.operate.RequestErasure.Place;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline erase}: the rows of one request taken out of what Plumbline keeps. */
@Command(
        name = "erase",
        mixinStandardHelpOptions = true,
        description = {
            "Finds what lies of one request on the topics and in the change-logs, and erases it: sampled rows, totals"
                    + " and whole requests of open windows and of the adapter's pool, dead letters, names in reports.",
            "",
            "Monitor and adapter must be stopped: they hold state that cannot be changed from outside. The topics are"
                    + " read again afterwards, and exit code 3 says that something is left, which the table names with"
                    + " the time until when. Sums over rows of many requests stay: moments, counts, centres of groups."
                    + " Where each thing lies: docs/operate/security.md."
        },
        footer = {
            "  plumbline erase --config plumbline.yaml --request 7f3c-42 --dry-run",
            "  plumbline erase --config plumbline.yaml --request 7f3c-42 --truncate window-reports,activations"
        })
final class EraseCommand implements Callable<Integer> {

    private static final String UNUSED = "is left: delete the topic, if no other application keeps it";
    private static final String ROW = "%-46s  %6s  %6s  %s%n";

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @Option(
            names = "--request",
            required = true,
            paramLabel = "ID",
            description = "The request, as its header names it; of a record without one the 16 digits in reports.")
    String request;

    @Option(names = "--dry-run", description = "Show what lies where, and change nothing; the applications may run.")
    boolean dryRun;

    @Option(
            names = "--truncate",
            split = ",",
            paramLabel = "TOPIC",
            description = "Also delete all records of this topic up to the last one that holds the request, those of"
                    + " other requests among them: of the topics of activations and reports, which others read.")
    Set<String> truncate = new TreeSet<>();

    @Spec
    CommandSpec spec;

    /** A topic with what lies there of the request, before and after. */
    private record Row(Place place, Map<TopicPartition, Found> before, Map<TopicPartition, Found> after) {
        private boolean isLeft() {
            return !after.isEmpty();
        }
    }

    @Override
    public Integer call() throws IOException {
        if (request.isBlank()) {
            throw new UsageException("--request: expected the name of a request");
        }
        MonitorConfig monitor = MonitorConfig.load(config);
        try (RequestErasure erasure = new RequestErasure(monitor, new RequestTrace(request), truncate)) {
            List<Place> places = erasure.places();
            requireTruncatable(places);
            if (!dryRun) {
                erasure.requireStopped();
            }
            Map<Place, Map<TopicPartition, Found>> before = erasure.find(places);
            Map<Place, Map<TopicPartition, Found>> after = before;
            if (!dryRun) {
                // Reading took its time.
                erasure.requireStopped();
                before.forEach((place, found) -> {
                    if (!found.isEmpty()) {
                        erasure.erase(place, found);
                    }
                });
                after = erasure.find(places);
            }
            List<Row> rows = new ArrayList<>();
            for (Place place : places) {
                rows.add(new Row(place, before.getOrDefault(place, Map.of()), after.getOrDefault(place, Map.of())));
            }
            print(monitor, erasure, rows);
            return dryRun || rows.stream().noneMatch(Row::isLeft) ? ExitCodes.FINE : ExitCodes.FAILURE;
        }
    }

    private void requireTruncatable(List<Place> places) {
        Set<String> possible = places.stream()
                .filter(place -> place.kind() == Kind.FOR_OTHERS)
                .map(Place::topic)
                .collect(Collectors.toCollection(TreeSet::new));
        for (String topic : truncate) {
            if (!possible.contains(topic)) {
                throw new UsageException("--truncate = %s: expected one of %s".formatted(topic, possible));
            }
        }
    }

    private void print(MonitorConfig monitor, RequestErasure erasure, List<Row> rows) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(ROW, "topic", "found", "left", "");
        boolean stateChanged = false;
        for (Row row : rows) {
            String what = "";
            if (row.isLeft()) {
                what = dryRun ? plan(row.place()) : left(monitor, erasure, row);
            }
            out.printf(ROW, row.place().topic(), records(row.before()), dryRun ? "" : records(row.after()), what);
            stateChanged |=
                    !dryRun && row.place().kind() == Kind.STATE && !row.before().isEmpty();
        }
        if (stateChanged) {
            out.println(("files under %s of each machine hold the state as it was: an instance restores it anew when it"
                            + " starts; delete the folder where none will")
                    .formatted(monitor.stateDirectory()));
        }
        out.flush();
    }

    private String plan(Place place) {
        return switch (place.kind()) {
            case STATE -> "is taken out of the state";
            case LETTERS -> "is deleted; other letters are written anew";
            case PASSED_ON -> "is deleted with all before it, which is read";
            case PUBLISHED -> "is left";
            case UNUSED_STATE -> UNUSED;
            case FOR_OTHERS ->
                truncate.contains(place.topic())
                        ? "is deleted with all before it"
                        : "is left; --truncate %s deletes it with all before it".formatted(place.topic());
        };
    }

    private String left(MonitorConfig monitor, RequestErasure erasure, Row row) {
        if (row.place().kind() == Kind.UNUSED_STATE) {
            return UNUSED;
        }
        if (erasure.isUnread(row.place(), row.after())) {
            return "not read yet: start the applications, let them read it, stop them, erase again";
        }
        return "until " + until(monitor, row);
    }

    /** Returns when the newest record is deleted at the latest: its segment is closed first, and ages then. */
    private static String until(MonitorConfig monitor, Row row) {
        Map<String, String> settings =
                Brokers.settings(monitor.adminProperties(), row.place().topic());
        Long retention = number(settings.get(TopicConfig.RETENTION_MS_CONFIG));
        Long segment = number(settings.get(TopicConfig.SEGMENT_MS_CONFIG));
        String policy = settings.getOrDefault(TopicConfig.CLEANUP_POLICY_CONFIG, "");
        if (retention == null || segment == null || retention < 0 || !policy.contains("delete")) {
            return "it is deleted by hand: %s=%s, %s=%s"
                    .formatted(TopicConfig.CLEANUP_POLICY_CONFIG, policy, TopicConfig.RETENTION_MS_CONFIG, retention);
        }
        long newest =
                row.after().values().stream().mapToLong(Found::newestMs).max().orElse(0);
        return "%s at the latest (%s=%d)"
                .formatted(
                        Instant.ofEpochMilli(newest + retention + segment).truncatedTo(ChronoUnit.MINUTES),
                        TopicConfig.RETENTION_MS_CONFIG,
                        retention);
    }

    private static @Nullable Long number(@Nullable String text) {
        try {
            return text == null ? null : Long.valueOf(text);
        } catch (NumberFormatException notTold) {
            return null;
        }
    }

    private static long records(Map<TopicPartition, Found> found) {
        return found.values().stream().mapToLong(Found::records).sum();
    }
}
