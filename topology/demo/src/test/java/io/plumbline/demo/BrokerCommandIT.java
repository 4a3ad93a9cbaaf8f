package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.operate.Plumbline;
import java.io.BufferedReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerCommandIT {

    @TempDir
    private Path folder;

    @Test
    void topicsInANamedFolderAreThereAtTheNextStart() throws Exception {
        Path data = folder.resolve("data");
        try (Running broker = new Running("--data", data.toString())) {
            try (Admin admin = broker.admin()) {
                admin.createTopics(List.of(new NewTopic("activations", 1, (short) 1)))
                        .all()
                        .get();
            }
        }
        try (Running broker = new Running("--data", data.toString());
                Admin admin = broker.admin()) {
            assertEquals(Set.of("activations"), admin.listTopics().names().get());
        }
    }

    @Test
    void withoutAFolderNothingIsLeftWhenItIsInterrupted() throws Exception {
        Path topics;
        try (Running broker = new Running()) {
            topics = Path.of(broker.line.replaceAll(".*topics in (\\S+) .*", "$1"));
            assertTrue(Files.isDirectory(topics), broker.line);
        }
        assertFalse(Files.exists(topics), topics::toString);
    }

    @Test
    void aPortThatIsTakenIsNamedWithWhatToDo() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Shell shell = Shell.run("broker", "--port", taken.getLocalPort());
            assertEquals(ExitCodes.USAGE, shell.exitCode());
            assertTrue(
                    shell.err()
                            .contains("--port = %d: something listens there already".formatted(taken.getLocalPort())),
                    shell.err());
            assertTrue(shell.err().contains("Name another port"), shell.err());
        }
    }

    @Test
    void aFileInPlaceOfTheFolderIsRefused() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        Shell shell = Shell.run("broker", "--port", EmbeddedBroker.freePort(), "--data", file);
        assertEquals(ExitCodes.USAGE, shell.exitCode());
        assertTrue(shell.err().contains("expected a folder"), shell.err());
    }

    /** The command in a process of its own, which is interrupted at the end as by Ctrl-C. */
    private static final class Running implements AutoCloseable {

        private static final long PATIENCE_SECONDS = 60;

        private final Process process;
        private final String line;

        Running(String... options) throws Exception {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx384m",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    Plumbline.class.getName(),
                    "broker",
                    "--port",
                    Integer.toString(EmbeddedBroker.freePort())));
            command.addAll(List.of(options));
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader printed = process.inputReader();
            String first = printed.readLine();
            assertNotNull(first, "it ended without a word");
            line = first;
        }

        Admin admin() {
            String address = line.replaceAll("Kafka broker at (\\S+),.*", "$1");
            return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address));
        }

        @Override
        public void close() {
            process.destroy();
            process.onExit().orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
        }
    }
}
