package io.plumbline.topology.cli;

import io.plumbline.explainer.Explainer;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderManifest;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline decoders}: what was published, and explainer folders made of it. */
@Command(
        name = "decoders",
        mixinStandardHelpOptions = true,
        description = {"Lists published decoders, or joins them to the trained explainer as folders SAELens reads.", ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline decoders list --bootstrap-servers localhost:9092",
            "  plumbline decoders follow --help"
        },
        subcommands = {DecodersCommand.ListThem.class, DecodersCommand.Fetch.class, DecodersCommand.Follow.class})
final class DecodersCommand {

    /** Where the topic is. */
    static final class Source {
        @Option(
                names = "--bootstrap-servers",
                required = true,
                paramLabel = "HOST:PORT",
                description = "Where the Kafka cluster is.")
        String bootstrapServers;

        @Option(names = "--topic", defaultValue = "decoders", description = "Default: ${DEFAULT-VALUE}.")
        String topic;

        @Option(
                names = "--kafka-property",
                paramLabel = "KEY=VALUE",
                description = "A property for the consumer, such as security.protocol=SSL. May be repeated.")
        Map<String, String> kafkaProperties = new TreeMap<>();

        /** Reads the topic; what is found is handed to the calling thread in order. */
        Reading read(@Nullable Map<String, String> parents) {
            Map<String, String> properties = new TreeMap<>(kafkaProperties);
            properties.put("bootstrap.servers", bootstrapServers);
            if (!Brokers.topics(properties).contains(topic)) {
                throw new UsageException("topic %s does not exist at %s".formatted(topic, bootstrapServers));
            }
            Properties client = new Properties();
            client.putAll(properties);
            return new Reading(client, topic, parents);
        }
    }

    /** What a subscriber found. */
    private sealed interface Found {
        record Published(PublishedDecoder decoder) implements Found {}

        record Refused(String site, long version, String reason) implements Found {}

        record CaughtUp() implements Found {}

        record Interrupted(String reason) implements Found {}
    }

    /** A subscriber whose callbacks wait in a queue, so that files are written on the calling thread. */
    private static final class Reading implements AutoCloseable, DecoderListener {

        // Without room: a decoder may be a gigabyte, and the subscriber can wait until the one before is written.
        private final BlockingQueue<Found> found = new SynchronousQueue<>();
        private final DecoderSubscriber subscriber;
        private volatile boolean closed;

        Reading(Properties client, String topic, @Nullable Map<String, String> parents) {
            subscriber = DecoderSubscriber.start(client, topic, parents, this);
        }

        Found next() {
            try {
                return found.take();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while reading decoders", interrupted);
            }
        }

        private void put(Found item) {
            try {
                boolean taken = false;
                while (!closed && !taken) {
                    taken = found.offer(item, 100, TimeUnit.MILLISECONDS);
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void onDecoder(PublishedDecoder decoder) {
            put(new Found.Published(decoder));
        }

        @Override
        public void onRefused(String site, long version, String reason) {
            put(new Found.Refused(site, version, reason));
        }

        @Override
        public void onCaughtUp() {
            put(new Found.CaughtUp());
        }

        @Override
        public void onInterrupted(String reason) {
            put(new Found.Interrupted(reason));
        }

        @Override
        public void close() {
            closed = true;
            subscriber.close();
        }
    }

    /** One site's trained explainer and where folders go. */
    static final class Target {
        @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site.")
        String site;

        @Option(
                names = "--explainer",
                required = true,
                paramLabel = "DIR",
                description = "Folder of the trained explainer; a decoder made from another one is refused.")
        Path explainer;

        @Option(names = "--out", required = true, paramLabel = "DIR", description = "The folder to write.")
        Path out;

        static void write(Explainer trained, PublishedDecoder published, Path folder) throws IOException {
            DecoderManifest manifest = published.manifest();
            Map<String, String> lineage = new LinkedHashMap<>(manifest.lineage());
            lineage.put("site", manifest.site());
            lineage.put("version", Long.toString(manifest.version()));
            lineage.put("parent_sha256", manifest.parentSha256());
            // A half holds no value that a float does not, and not every reader of these folders takes halves.
            DType dtype = published.dtype() == DType.F64 ? DType.F64 : DType.F32;
            trained.writeAdapted(published.decoder(), dtype, lineage, folder);
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = {"Shows the newest complete decoder of every site.", ""},
            footer = {"", "Example:", "  plumbline decoders list --bootstrap-servers localhost:9092"})
    static final class ListThem implements Callable<Integer> {

        private static final String ROW = "%-24s  %7s  %-8s  %-12s  %s%n";

        @Mixin
        Source source;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() {
            Map<String, DecoderManifest> newest = new TreeMap<>();
            PrintWriter err = spec.commandLine().getErr();
            try (Reading reading = source.read(null)) {
                for (Found found = reading.next(); !(found instanceof Found.CaughtUp); found = reading.next()) {
                    if (found instanceof Found.Published published) {
                        newest.put(
                                published.decoder().site(), published.decoder().manifest());
                    } else {
                        printRefused(err, orFail(found));
                    }
                }
            }
            PrintWriter out = spec.commandLine().getOut();
            out.printf(ROW, "site", "version", "kind", "parent", "lineage");
            newest.forEach((site, manifest) -> out.printf(
                    ROW,
                    site,
                    manifest.version(),
                    manifest.kind(),
                    manifest.parentSha256()
                            .substring(0, Math.min(12, manifest.parentSha256().length())),
                    manifest.lineage()));
            out.flush();
            return ExitCodes.FINE;
        }
    }

    @Command(
            name = "fetch",
            mixinStandardHelpOptions = true,
            description = {"Writes the newest decoder of a site, joined to its trained explainer, as a folder.", ""},
            footer = {
                "",
                "Example:",
                "  plumbline decoders fetch --bootstrap-servers localhost:9092 --site encoder.layer.2 \\",
                "      --explainer sae/ --out adapted/"
            })
    static final class Fetch implements Callable<Integer> {

        @Mixin
        Source source;

        @Mixin
        Target target;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            if (Files.exists(target.out)) {
                throw new UsageException(
                        "--out = %s: exists already; name a folder that does not".formatted(target.out));
            }
            Explainer trained = Options.explainer(target.explainer);
            Options.requireParent("--out", target.out);
            PublishedDecoder newest = null;
            Map<String, String> parents = Map.of(target.site, trained.decoder().sha256());
            try (Reading reading = source.read(parents)) {
                for (Found found = reading.next(); !(found instanceof Found.CaughtUp); found = reading.next()) {
                    if (found instanceof Found.Published published) {
                        newest = published.decoder();
                    } else {
                        printRefused(spec.commandLine().getErr(), orFail(found));
                    }
                }
            }
            if (newest == null) {
                throw new IllegalStateException("no decoder of site %s, made from %s, was found; nothing was written"
                        .formatted(target.site, target.explainer));
            }
            Target.write(trained, newest, target.out);
            spec.commandLine().getOut().println("version %d in %s".formatted(newest.version(), target.out));
            return ExitCodes.FINE;
        }
    }

    @Command(
            name = "follow",
            mixinStandardHelpOptions = true,
            description = {
                "Writes every new decoder of a site as a folder OUT/version-N, until it is interrupted.",
                "",
                "A folder appears whole or not at all; one that is there already is left alone.",
                ""
            },
            footer = {
                "",
                "Example:",
                "  plumbline decoders follow --bootstrap-servers localhost:9092 --site encoder.layer.2 \\",
                "      --explainer sae/ --out adapted/"
            })
    static final class Follow implements Callable<Integer> {

        @Mixin
        Source source;

        @Mixin
        Target target;

        @Option(names = "--count", paramLabel = "N", description = "Stop after N decoders. Default: never.")
        @Nullable
        Integer count;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() throws IOException {
            Explainer trained = Options.explainer(target.explainer);
            Files.createDirectories(target.out);
            Map<String, String> parents = Map.of(target.site, trained.decoder().sha256());
            Function<PublishedDecoder, Path> folder = published -> target.out.resolve("version-" + published.version());
            int left = count == null ? Integer.MAX_VALUE : count;
            try (Reading reading = source.read(parents)) {
                while (left > 0) {
                    Found found = reading.next();
                    if (found instanceof Found.Published published) {
                        Path out = folder.apply(published.decoder());
                        if (!Files.exists(out)) {
                            Target.write(trained, published.decoder(), out);
                        }
                        spec.commandLine()
                                .getOut()
                                .println("version %d (%s) in %s"
                                        .formatted(
                                                published.decoder().version(),
                                                published.decoder().manifest().kind(),
                                                out));
                        spec.commandLine().getOut().flush();
                        left--;
                    } else {
                        printRefused(spec.commandLine().getErr(), found);
                    }
                }
            }
            return ExitCodes.FINE;
        }
    }

    /** For commands that read once: without the broker there is no answer. */
    private static Found orFail(Found found) {
        if (found instanceof Found.Interrupted interrupted) {
            throw new IllegalStateException("the decoders could not be read: " + interrupted.reason());
        }
        return found;
    }

    private static void printRefused(PrintWriter err, Found found) {
        if (found instanceof Found.Interrupted interrupted) {
            err.println("reading decoders: " + interrupted.reason());
            err.flush();
        }
        if (found instanceof Found.Refused refused) {
            err.println("site %s, version %d is not served: %s"
                    .formatted(refused.site(), refused.version(), refused.reason()));
            err.flush();
        }
    }
}
