package io.plumbline.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.Repository;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.emission.DecoderRecords;
import java.io.BufferedReader;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.apache.kafka.clients.consumer.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;

/** Builds the example project from the client's jar and Kafka's clients, and runs it against a broker. */
class ExampleProjectIT {

    private static final Path JAR = Repository.path("topology/client/target/plumbline-client-0.1.0.jar");
    private static final Path SOURCE = Repository.path("topology/client/example/src/main/java/FollowDecoders.java");

    @TempDir
    private Path folder;

    @Test
    void theExampleServesWhatIsPublishedWithTheClientAndKafkasClientsAlone() throws Exception {
        String classPath = Stream.of(JAR, jarOf(Consumer.class), jarOf(Logger.class))
                .map(jar -> jar.toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
        Path classes = Files.createDirectory(folder.resolve("classes"));
        assertEquals(
                0,
                ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "-cp",
                                classPath,
                                "--release",
                                "17",
                                "-d",
                                classes.toString(),
                                SOURCE.toString()));
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("decoders", 1, Map.of("cleanup.policy", "compact"));
            WatchedFolder.create(folder, broker.bootstrapServers());
            Path explainer = folder.resolve("explainer");
            Decoder trained = Formats.read(explainer).decoder();
            Decoder adapted = new Decoder(trained.weights(), new double[trained.dimension()]);
            client.send(DecoderRecords.of("decoders", "encoder.layer.2", 3, trained.sha256(), adapted));
            Process example = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            classes + File.pathSeparator + classPath,
                            "FollowDecoders",
                            broker.bootstrapServers(),
                            explainer.toString())
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader lines = example.inputReader()) {
                String said = lines.lines()
                        .takeWhile(line -> !line.equals("a decoder is in service, sha256 " + adapted.sha256()))
                        .collect(Collectors.joining("\n"));
                assertTrue(example.isAlive(), said);
                assertTrue(said.contains("encoding " + WatchedFolder.FEATURES + " features"), said);
            } finally {
                example.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void theJarHoldsNoLibraryUnderItsOwnName() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> others = jar.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.endsWith(".class") && !name.startsWith("io/plumbline/"))
                    .filter(name -> !name.startsWith("org/jspecify/annotations/"))
                    .toList();
            assertEquals(List.of(), others);
        }
    }

    private static Path jarOf(Class<?> one) throws URISyntaxException {
        return Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
