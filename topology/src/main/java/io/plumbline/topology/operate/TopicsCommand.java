package io.plumbline.topology.operate;

import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.records.MomentRecord;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.broker.AccessRole;
import io.plumbline.topology.broker.Grant;
import io.plumbline.topology.broker.TopicReview;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline topics}: the topics, made ahead of time, looked at, and the rights on them. */
@Command(
        name = "topics",
        mixinStandardHelpOptions = true,
        description = {
            "Makes all topics, shows what is wrong with those there are, or prints the rights each role needs.",
            "",
            "The change-logs of Kafka Streams are among them: once all are made, `run` needs no right to make any."
                    + " Nothing that exists is changed. --describe exits with 2 where something is to be put right."
        },
        footer = {
            "  plumbline topics --config plumbline.yaml --create --partitions 8 --replication-factor 3",
            "  plumbline topics --config plumbline.yaml --describe",
            "  plumbline topics --config plumbline.yaml --describe --moment-records",
            "  plumbline topics --config plumbline.yaml --acl --role monitor --principal User:monitor"
        })
final class TopicsCommand implements Callable<Integer> {

    private static final String ROW = "%-48s  %10s  %11s  %-14s  %s%n";

    /** The bytes of {@code socket.request.max.bytes} where a broker's own configuration has no other. */
    private static final long DEFAULT_LARGEST_REQUEST = 100L << 20;

    /** More than what a request has besides its records. */
    private static final long REQUEST_HEADER = 1L << 10;

    @Option(names = "--config", required = true, paramLabel = "FILE", description = "The configuration file.")
    Path config;

    /** The options; exactly one of them is given. */
    static final class Task {
        @Option(names = "--create", description = "Make the topics that are missing.")
        boolean create;

        @Option(names = "--describe", description = "Show the topics and what differs from what is needed.")
        boolean describe;

        @Option(
                names = "--acl",
                description = "Print the commands that grant the rights; ask no broker, grant nothing.")
        boolean acl;
    }

    @ArgGroup(multiplicity = "1")
    Task task;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "With --create: partitions of the activations topic where it is missing.")
    @Nullable
    Integer partitions;

    @Option(
            names = "--replication-factor",
            paramLabel = "N",
            description = "With --create: copies of each partition; default: the broker's. With --describe: at least so"
                    + " many.")
    @Nullable
    Short replicationFactor;

    @Option(
            names = "--moment-records",
            description = "The topic of activations takes a moment record of every site: --create sets its"
                    + " max.message.bytes for the widest one, --describe compares it.")
    boolean momentRecords;

    @Option(names = "--role", description = "With --acl: ${COMPLETION-CANDIDATES}. Default: all of them.")
    @Nullable
    AccessRole role;

    @Option(
            names = "--tenant",
            paramLabel = "TENANT",
            description = "With --acl --role producer: the tenant whose topic is to be written to. Default: each.")
    @Nullable
    String tenant;

    @Option(
            names = "--principal",
            paramLabel = "PRINCIPAL",
            description = "With --acl: whom to grant it, such as User:monitor. Default: User:plumbline-<role>, of a"
                    + " producer with its tenant behind.")
    @Nullable
    String principal;

    @Option(
            names = "--command-config",
            defaultValue = "admin.properties",
            paramLabel = "FILE",
            description = "With --acl: the file with the administrator's login the commands are to name. Default:"
                    + " ${DEFAULT-VALUE}.")
    String commandConfig;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        requireSensible();
        MonitorConfig monitor = MonitorConfig.load(config);
        if (task.acl) {
            printRights(monitor, spec.commandLine().getOut());
            return ExitCodes.FINE;
        }
        Long largest = momentRecords ? Long.valueOf(largestMomentRecord(monitor)) : null;
        if (task.create) {
            List<String> made = TopicReview.create(monitor, partitions, replicationFactor, largest);
            made.forEach(topic -> spec.commandLine().getOut().println("made " + topic));
        }
        return describe(monitor, largest);
    }

    private void requireSensible() {
        if (partitions != null && partitions < 1) {
            throw new UsageException("--partitions %d: expected at least 1".formatted(partitions));
        }
        if (replicationFactor != null && replicationFactor < 1) {
            throw new UsageException("--replication-factor %d: expected at least 1".formatted(replicationFactor));
        }
        if (partitions != null && !task.create) {
            throw new UsageException("--partitions goes with --create");
        }
        if (momentRecords && task.acl) {
            throw new UsageException("--moment-records goes with --create and --describe");
        }
        if (!task.acl && (role != null || principal != null)) {
            throw new UsageException("--role and --principal go with --acl");
        }
        if (tenant != null && role != AccessRole.PRODUCER) {
            throw new UsageException("--tenant goes with --acl --role producer");
        }
    }

    private static long largestMomentRecord(MonitorConfig monitor) throws IOException {
        long largest = 0;
        for (SiteSettings site : monitor.sites().values()) {
            ExplainerShape shape =
                    Formats.shape(site.explained().explainer(), site.explained().options());
            largest = Math.max(
                    largest,
                    MomentRecord.largestBytes(
                            shape.inputWidth(), shape.targetWidth(), shape.transcoder(), monitor.sampleRows()));
        }
        return largest;
    }

    private int describe(MonitorConfig monitor, @Nullable Long largest) {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        out.printf(ROW, "topic", "partitions", "replication", "state", "what is on it");
        int problems = 0;
        for (TopicReview.Line line : TopicReview.of(monitor, replicationFactor, largest)) {
            out.printf(
                    ROW,
                    line.topic(),
                    line.exists() ? line.partitions() : "-",
                    line.exists() ? line.replication() : "-",
                    state(line),
                    line.what());
            line.problems().forEach(err::println);
            problems += line.problems().size();
        }
        String beyond = largest == null ? null : beyondRequests(largest);
        if (beyond != null) {
            err.println(beyond);
        }
        out.flush();
        err.flush();
        return problems == 0 ? ExitCodes.FINE : ExitCodes.USAGE;
    }

    /** Returns what to raise where a record is larger than the requests that a broker takes by default, or null. */
    static @Nullable String beyondRequests(long largest) {
        return largest + REQUEST_HEADER <= DEFAULT_LARGEST_REQUEST
                ? null
                : ("a moment record of the widest site takes up to %d bytes, a broker closes the connection on requests"
                                + " beyond %d: raise socket.request.max.bytes of every broker, or send such moments as"
                                + " F32, which takes half")
                        .formatted(largest, DEFAULT_LARGEST_REQUEST);
    }

    private static String state(TopicReview.Line line) {
        if (!line.exists()) {
            return "missing";
        }
        int problems = line.problems().size();
        return problems == 0 ? "fine" : problems == 1 ? "1 difference" : problems + " differences";
    }

    private void printRights(MonitorConfig monitor, PrintWriter out) {
        List<ActivationTopic> producers = producers(monitor);
        for (AccessRole one : role == null ? AccessRole.values() : new AccessRole[] {role}) {
            if (one == AccessRole.PRODUCER) {
                for (ActivationTopic topic : producers) {
                    String name = topic.tenant() == null ? one.toString() : one + "-" + topic.tenant();
                    printRights(monitor, out, name, one, List.of(AccessRole.writing(topic)));
                }
            } else {
                printRights(monitor, out, one.toString(), one, one.grants(monitor));
            }
        }
        out.flush();
    }

    /** Returns the topics that producers write to, of all tenants unless one is named. */
    private List<ActivationTopic> producers(MonitorConfig monitor) {
        List<ActivationTopic> topics = monitor.activationTopics().stream()
                .filter(topic -> tenant == null || tenant.equals(topic.tenant()))
                .toList();
        if (topics.isEmpty()) {
            throw new UsageException("--tenant %s: expected one that a site names under `tenant`".formatted(tenant));
        }
        if (role == AccessRole.PRODUCER && principal != null && topics.size() > 1) {
            throw new UsageException(
                    "--principal %s: may write the rows of one tenant; name it with --tenant".formatted(principal));
        }
        return topics;
    }

    private void printRights(MonitorConfig monitor, PrintWriter out, String name, AccessRole one, List<Grant> grants) {
        out.println("# %s: %s".formatted(name, one.what()));
        for (Grant grant : grants) {
            out.println(grant.command(
                    monitor.bootstrapServers(),
                    commandConfig,
                    principal == null ? "User:plumbline-" + name : principal));
        }
    }
}
