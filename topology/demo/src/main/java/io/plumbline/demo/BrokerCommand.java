package io.plumbline.demo;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.fixtures.TemporaryFolder;
import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline broker}: the demonstration's broker alone, for the first steps with one's own model. */
@Command(
        name = "broker",
        mixinStandardHelpOptions = true,
        description = {
            "Runs one Kafka broker on this machine, to try Plumbline without installing Kafka, until it is"
                    + " interrupted.",
            "",
            "It listens on 127.0.0.1 without a password, keeps one copy of everything and deletes nothing by age: it"
                    + " is for"
                    + " trying things out, not for production. Topics are gone when it ends, unless --data names a"
                    + " folder."
        },
        footerHeading = "Examples:%n",
        footer = {
            "  plumbline broker",
            "  plumbline broker --port 19092 --data kafka-data    topics stay for the next start"
        })
public final class BrokerCommand implements AddedCommand {

    private static final int HIGHEST_PORT = 65_535;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "9092",
            description = "The port on 127.0.0.1 (default: ${DEFAULT-VALUE}).")
    int port;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Keep topics here between starts. Default: a temporary folder, removed at the end.")
    @Nullable
    Path data;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        requireFreePort();
        if (data != null && Files.exists(data) && !Files.isDirectory(data)) {
            throw new UsageException("--data = %s: expected a folder".formatted(data));
        }
        if (data != null) {
            return serve(data.toAbsolutePath(), null);
        }
        TemporaryFolder temporary = TemporaryFolder.create("plumbline-broker-");
        return serve(temporary.root(), temporary);
    }

    /** Serves until the process is interrupted. */
    private int serve(Path folder, @Nullable TemporaryFolder temporary) throws InterruptedException {
        EmbeddedBroker broker;
        try {
            broker = EmbeddedBroker.start(folder, port, Map.of());
        } catch (RuntimeException e) {
            if (temporary != null) {
                temporary.close();
            }
            throw e;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(broker, temporary), "stop-broker"));
        PrintWriter out = spec.commandLine().getOut();
        out.printf(
                "Kafka broker at %s, topics in %s   (Ctrl-C stops it%s)%n",
                broker.bootstrapServers(), folder, temporary == null ? "; they stay" : " and removes them");
        out.flush();
        new CountDownLatch(1).await();
        return spec.exitCodeOnSuccess();
    }

    private static void stop(EmbeddedBroker broker, @Nullable TemporaryFolder temporary) {
        broker.close();
        if (temporary != null) {
            temporary.close();
        }
    }

    private void requireFreePort() throws UsageException {
        if (port < 1 || port > HIGHEST_PORT) {
            throw new UsageException("--port = %d: expected 1 to %d".formatted(port, HIGHEST_PORT));
        }
        try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            free.setReuseAddress(true);
        } catch (IOException e) {
            throw new UsageException(
                    "--port = %d: something listens there already (%s). Name another port, or use what listens there"
                            .formatted(port, e.getMessage()));
        }
    }
}
