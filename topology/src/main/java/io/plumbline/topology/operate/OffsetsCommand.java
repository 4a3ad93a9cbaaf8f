package io.plumbline.topology.operate;

import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline offsets}: where the applications go on reading, and a record that ends them passed by. */
@Command(
        name = "offsets",
        mixinStandardHelpOptions = true,
        description = {
            "Shows where the monitor and the adapter go on reading each topic, or moves one past a record.",
            "",
            "For the record that ends the program at every start, such as one that unpacks to more than the heap."
                    + " --pass names it; the application must be stopped. Nothing but that one offset is written,"
                    + " and the"
                    + " record stays on its topic. How to find it: docs/operate/dead-letters.md."
        },
        footer = {
            "  plumbline offsets --config plumbline.yaml",
            "  plumbline offsets --config plumbline.yaml --pass 4711 --partition 3"
        })
final class OffsetsCommand implements Callable<Integer> {

    private static final String ROW = "%-32s  %9s  %14s  %14s  %14s%n";

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    @Option(
            names = "--pass",
            paramLabel = "OFFSET",
            description = "Go on reading after this offset. Exits with 2 while an instance runs.")
    @Nullable
    Long pass;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "The topic it lies on. Default: all; with --pass that of activations.")
    @Nullable
    String topic;

    @Option(names = "--partition", paramLabel = "N", description = "With --pass: the partition it lies on.")
    @Nullable
    Integer partition;

    @Option(
            names = "--with-earlier",
            description =
                    "With --pass: also skip records before it that were not read yet; without it they are refused.")
    boolean withEarlier;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        MonitorConfig monitor = MonitorConfig.load(config);
        PrintWriter out = spec.commandLine().getOut();
        Long offset = pass;
        if (offset == null) {
            if (partition != null || withEarlier) {
                throw new UsageException("--partition and --with-earlier go with --pass");
            }
            show(monitor, out);
        } else {
            Integer from = partition;
            if (from == null) {
                throw new UsageException("--pass %d: name the --partition it lies on".formatted(offset));
            }
            String name = topic == null ? onlyActivations(monitor) : topic;
            try (GroupPlaces places = GroupPlaces.of(monitor, group(monitor, name))) {
                out.println(pass(places, name, from, offset));
            }
        }
        out.flush();
        return ExitCodes.FINE;
    }

    private void show(MonitorConfig monitor, PrintWriter out) {
        out.printf(ROW, "topic", "partition", "reads next", "ends at", "waiting");
        for (String name : read(monitor)) {
            if (topic != null && !topic.equals(name)) {
                continue;
            }
            try (GroupPlaces places = GroupPlaces.of(monitor, group(monitor, name))) {
                for (GroupPlaces.Place place : places.places(name)) {
                    out.printf(ROW, name, place.partition().partition(), place.next(), place.end(), place.waiting());
                }
            }
        }
    }

    /** Returns the topics that the applications read, in the order a record meets them. */
    static List<String> read(MonitorConfig monitor) {
        List<String> read = new ArrayList<>();
        monitor.activationTopics().forEach(of -> read.add(of.topic()));
        read.add(monitor.topics().moments());
        if (!monitor.models().isEmpty()) {
            read.add(monitor.topics().modelWindows());
        }
        read.add(monitor.topics().adaptationRequests());
        return read;
    }

    private static String onlyActivations(MonitorConfig monitor) {
        List<ActivationTopic> topics = monitor.activationTopics();
        if (topics.size() > 1) {
            throw new UsageException(
                    "--pass: there are %d topics of activations; name one with --topic".formatted(topics.size()));
        }
        return topics.get(0).topic();
    }

    /** The group that reads the topic, which is the application's id. */
    static String group(MonitorConfig monitor, String topic) {
        List<String> read = read(monitor);
        if (!read.contains(topic)) {
            throw new UsageException("--topic %s: neither application reads it; expected one of %s"
                    .formatted(topic, String.join(", ", read)));
        }
        return topic.equals(monitor.topics().adaptationRequests())
                ? monitor.adapterApplicationId()
                : monitor.monitorApplicationId();
    }

    private String pass(GroupPlaces places, String name, int from, long offset) {
        places.requireStopped();
        GroupPlaces.Place place = places.places(name).stream()
                .filter(one -> one.partition().partition() == from)
                .findFirst()
                .orElseThrow(() ->
                        new UsageException("--partition %d: topic %s has none of that number".formatted(from, name)));
        if (offset < place.next() || offset >= place.end()) {
            throw new UsageException(
                    ("--pass %d: %s is read next at %d and ends at %d; expected an offset from %d to %d. "
                                    + "Nothing was moved")
                            .formatted(
                                    offset,
                                    place.partition(),
                                    place.next(),
                                    place.end(),
                                    place.next(),
                                    place.end() - 1));
        }
        long earlier = offset - place.next();
        if (earlier > 0 && !withEarlier) {
            throw new UsageException(
                    ("--pass %d: %s is read next at %d, so %d offsets before it would be skipped unread too; "
                                    + "let the monitor commit up to the record first (docs/operate/dead-letters.md), "
                                    + "or give --with-earlier. Nothing was moved")
                            .formatted(offset, place.partition(), place.next(), earlier));
        }
        places.move(place, offset + 1);
        return "group %s reads %s next at %d; it was %d. Skipped unread: %s"
                .formatted(
                        places.group(),
                        place.partition(),
                        offset + 1,
                        place.next(),
                        earlier == 0 ? "offset " + offset : "offsets %d to %d".formatted(place.next(), offset));
    }
}
