package io.plumbline.topology.reload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.Watched;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.panes.InForce;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a process makes of a file that changes while versions are not published, not heard or not taken. */
class ConfigReloadIT {

    private static final String USUAL = "share: 0.6";
    private static final String HIGHER = "share: 0.7";
    private static final String REFUSED = "share: 7";
    private static final long SECONDS = 30;

    @TempDir
    private static Path brokers;

    private static EmbeddedBroker broker;
    private static BrokerClient client;

    @TempDir
    private Path folder;

    private String topic;
    private Path file;
    private InForce<Watched> inForce;

    /** Keeps what a process says of itself. */
    private static final class Said implements ReloadListener {
        private volatile String sha256 = "";
        private volatile long version;
        private volatile boolean taken;
        private volatile boolean other;

        @Override
        public void onConfiguration(MonitorConfig config, String hash, @Nullable ConfigVersion agreed) {
            sha256 = hash;
            version = agreed == null ? 0 : agreed.version();
        }

        @Override
        public void onRead(boolean isTaken) {
            taken = isTaken;
        }

        @Override
        public void onOther(boolean isOther) {
            other = isOther;
        }
    }

    private final Said said = new Said();

    @BeforeAll
    static void startBroker() {
        broker = EmbeddedBroker.start(brokers);
        client = new BrokerClient(broker.bootstrapServers());
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @BeforeEach
    void create(TestInfo test) throws Exception {
        topic = test.getTestMethod().orElseThrow().getName();
        client.createTopic(topic, 1, Map.of());
        WatchedFolder.create(
                folder,
                broker.bootstrapServers(),
                WatchedFolder.WINDOW,
                "topics: {configuration: %s}".formatted(topic),
                WatchedFolder.SITE);
        file = folder.resolve(WatchedFolder.FILE);
    }

    private ConfigReload start(Path of, ReloadListener listener) throws Exception {
        FirstRead first = FirstRead.of(of, log -> {});
        inForce = InForce.of(new Watched(first.config(), WatchedFolder.sites(first.config())));
        return ConfigReload.start(first, inForce, true, () -> Long.MIN_VALUE, listener, log -> {});
    }

    private static void change(Path one, String before, String after) throws IOException {
        String text = Files.readString(one);
        assertTrue(text.contains(before), before);
        Files.writeString(one, text.replace(before, after));
    }

    /** Has the topic refuse every version from here on. */
    private void narrow() throws Exception {
        client.alterTopic(topic, "max.message.bytes", "100");
        BrokerClient.awaitThat(
                () -> {
                    try {
                        client.send(List.of(new ProducerRecord<>(topic, new byte[200])));
                        return false;
                    } catch (Exception refused) {
                        return true;
                    }
                },
                () -> topic + " takes any record");
    }

    private void awaitInForce(ConfigReload reload, String sha256) throws Exception {
        BrokerClient.awaitThat(
                () -> {
                    reload.lookAgain();
                    return said.sha256.equals(sha256) && !said.other;
                },
                SECONDS,
                () -> "%s is in force, other: %s".formatted(said.sha256, said.other));
    }

    @Test
    void aVersionThatNoBrokerTookIsPublishedAfterARefusedOneToo() throws Exception {
        try (ConfigReload reload = start(file, said)) {
            narrow();
            change(file, USUAL, HIGHER);
            String higher = FirstRead.of(file, log -> {}).prints().sha256();
            reload.reload(file);
            change(file, HIGHER, REFUSED);
            reload.reload(file);
            assertFalse(said.taken);
            change(file, REFUSED, HIGHER);
            reload.reload(file);
            assertTrue(said.taken);
            client.alterTopic(topic, "max.message.bytes", "100000");
            awaitInForce(reload, higher);
        }
    }

    @Test
    void aFileThatIsWrittenBackBeforeItsVersionIsHeardIsAgreedOnAnew() throws Exception {
        try (ConfigReload reload = start(file, said)) {
            BrokerClient.awaitThat(() -> said.version == 1, SECONDS, () -> "version " + said.version);
            synchronized (reload) { // nothing is heard meanwhile
                change(file, USUAL, HIGHER);
                reload.reload(file);
                change(file, HIGHER, USUAL);
                reload.reload(file);
            }
            BrokerClient.awaitThat(() -> said.version == 3 && !said.other, SECONDS, () -> "version %d, other: %s"
                    .formatted(said.version, said.other));
        }
    }

    @Test
    void aChangeBehindOneThatWasWrittenBackIsInForceToo() throws Exception {
        try (ConfigReload reload = start(file, said)) {
            BrokerClient.awaitThat(() -> said.version == 1, SECONDS, () -> "version " + said.version);
            synchronized (reload) {
                change(file, USUAL, HIGHER);
                reload.reload(file);
                change(file, HIGHER, USUAL);
                reload.reload(file);
                change(file, USUAL, "share: 0.8");
                reload.reload(file);
            }
            awaitInForce(reload, FirstRead.of(file, log -> {}).prints().sha256());
            assertEquals(4, said.version);
        }
    }

    @Test
    void aFileThatIsWrittenBackWhileNoBrokerTakesItsVersionIsPublishedBehindIt() throws Exception {
        try (ConfigReload reload = start(file, said)) {
            BrokerClient.awaitThat(() -> said.version == 1, SECONDS, () -> "version " + said.version);
            narrow();
            change(file, USUAL, HIGHER);
            String higher = FirstRead.of(file, log -> {}).prints().sha256();
            reload.reload(file);
            change(file, HIGHER, USUAL);
            reload.reload(file);
            long end = client.endOffsets(topic);
            client.alterTopic(topic, "max.message.bytes", "100000");
            BrokerClient.awaitThat(
                    () -> {
                        reload.lookAgain();
                        return client.endOffsets(topic) > end;
                    },
                    SECONDS,
                    () -> "the change may have come, and nothing was published behind it");
            change(file, USUAL, HIGHER);
            reload.reload(file);
            awaitInForce(reload, higher);
        }
    }

    @Test
    void aVersionThatCouldNotBeTakenOverIsTriedAgainWhenItsFileIsRead() throws Exception {
        Path elsewhere = folder.resolve("elsewhere.yaml");
        Files.copy(file, elsewhere);
        try (ConfigReload another = start(elsewhere, new ReloadListener() {});
                ConfigReload reload = start(file, said)) {
            change(elsewhere, USUAL, HIGHER);
            another.reload(elsewhere);
            BrokerClient.awaitThat(() -> said.other, () -> "nothing else was agreed on");
            AtomicBoolean isFull = new AtomicBoolean();
            inForce.map(watched -> {
                if (isFull.get()) {
                    throw new IllegalStateException("no room");
                }
                return watched;
            });
            isFull.set(true);
            change(file, USUAL, HIGHER);
            reload.reload(file);
            assertFalse(said.taken);
            reload.reload(file);
            assertFalse(said.taken, "it is not in force, and called fine");
            isFull.set(false);
            reload.reload(file);
            assertTrue(said.taken);
            awaitInForce(reload, FirstRead.of(file, log -> {}).prints().sha256());
        }
    }
}
