package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a commit asks before it goes ahead; nobody else looks at the topics here. */
class SourceTopicIT {

    @TempDir
    private Path folder;

    @Test
    void noCommitGoesAheadOnceOneOfSeveralTopicsIsAnotherUnderItsName() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"));
                Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("rows-acme", 1, Map.of());
            client.createTopic("rows-globex", 1, Map.of());
            List<SourceTopic> topics = List.of(topic(admin, "rows-acme"), topic(admin, "rows-globex"));
            SourceTopic.requireSame(topics);
            assertDoesNotThrow(() -> SourceTopic.requireSame(topics));

            admin.deleteTopics(List.of("rows-globex")).all().get();
            BrokerClient.awaitThat(() -> isGone(admin, "rows-globex"), () -> "rows-globex is there");
            assertDoesNotThrow(() -> SourceTopic.requireSame(topics), "what was read of it is committed");
            client.createTopic("rows-globex", 1, Map.of());
            KafkaException refused = assertThrows(KafkaException.class, () -> SourceTopic.requireSame(topics));
            assertTrue(
                    refused.getMessage().contains("topic \"rows-globex\" was deleted and made again"),
                    () -> String.valueOf(refused.getMessage()));
            assertThrows(KafkaException.class, () -> SourceTopic.requireSame(topics), "and none after it");
        }
    }

    private static SourceTopic topic(Admin admin, String name) {
        return new SourceTopic(admin, name, 1, () -> 0, remade -> {});
    }

    private static boolean isGone(Admin admin, String name) {
        try {
            return !admin.listTopics().names().get().contains(name);
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
