package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.faults.Traffic;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;

/** Asks the broker what it knows of transactions. */
record Transactions(String bootstrapServers) {

    private static final int MOST_WINDOWS = 50;

    /** Sends windows, one after the other, until a transaction is open: a monitor may be between two of them. */
    void openWith(Traffic traffic) throws Exception {
        try (Admin admin = admin()) {
            int before = traffic.windowsSent();
            do {
                assertTrue(traffic.windowsSent() < before + MOST_WINDOWS, "no transaction was opened");
                traffic.send(1);
            } while (open(admin).isEmpty());
        }
    }

    /** Waits until the broker has ended those that timed out. */
    void awaitNoneOpen() throws InterruptedException {
        try (Admin admin = admin()) {
            BrokerClient.awaitThat(() -> open(admin).isEmpty(), () -> "open: " + open(admin));
        }
    }

    private static List<TransactionListing> open(Admin admin) {
        try {
            return admin.listTransactions().all().get().stream()
                    .filter(listing -> listing.state() == TransactionState.ONGOING)
                    .toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers));
    }
}
