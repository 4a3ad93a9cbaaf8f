package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.junit.jupiter.api.Test;

class LostThreadTest {

    /** Tests the chain that a broker away for 70 s left behind. */
    @Test
    void brokerThatWasAwayPasses() {
        TimeoutException timeout =
                new TimeoutException("Topic panes-changelog not present in metadata after 60000 ms.");
        assertTrue(LostThread.passes(new StreamsException(
                "Error encountered trying to add offsets to a transaction",
                new KafkaException(
                        "Cannot execute transactional method because we are in an error state",
                        new TransactionAbortableException("aborted after exhausting retries", timeout)))));
        assertTrue(LostThread.passes(timeout));
    }

    /**
     * Tests the chain that a broker away for longer than delivery.timeout.ms left behind: no class in it says that it
     * passes.
     */
    @Test
    void recordsThatCouldNoLongerBeSentPass() {
        assertTrue(LostThread.passes(new StreamsException(
                "Error encountered trying to add offsets to a transaction",
                new KafkaException(
                        "Cannot execute transactional method because we are in an error state",
                        new KafkaException("The client hasn't received acknowledgment for some previously sent "
                                + "messages and can no longer retry them. "
                                + "It is safe to abort the transaction "
                                + "and continue.")))));
    }

    /**
     * Tests a broker still away when the lost transaction was to be aborted; the producer would have to be asked again.
     */
    @Test
    void aProducerThatWaitsForItsAbortPassesAndAStoreThatCannotBeReadDoesNot() {
        IllegalStateException waits = new IllegalStateException(
                "Cannot attempt operation `beginTransaction` because the previous call to `abortTransaction` timed "
                        + "out and must be retried");
        waits.setStackTrace(new StackTraceElement[] {
            new StackTraceElement(
                    "org.apache.kafka.clients.producer.internals.TransactionManager",
                    "throwIfPendingState",
                    "TransactionManager.java",
                    1)
        });
        assertTrue(LostThread.passes(new StreamsException("Exception caught while punctuating", waits)));
        assertFalse(LostThread.passes(
                new StreamsException("process", new IllegalStateException("reset the application's state"))));
    }

    /**
     * Tests what a broker left behind that lost a batch before the one it was sent: Kafka Streams begins anew by itself
     * where the send fails with it, and not where the next call on the producer does.
     */
    @Test
    void aBatchOutOfOrderPasses() {
        assertTrue(LostThread.passes(
                errorState(new OutOfOrderSequenceException("The broker received an out of order sequence number."))));
        assertTrue(LostThread.passes(errorState(new UnknownProducerIdException("no state of this producer"))));
    }

    /** Tests what a monitor met that had sent nothing for longer than transactional.id.expiration.ms. */
    @Test
    void anExpiredTransactionalIdPasses() {
        assertTrue(LostThread.passes(
                errorState(new InvalidPidMappingException("The producer attempted to use a producer id"))));
    }

    /**
     * Tests what a monitor met whose dead letters a topic did not take, when the next record was to be sent before the
     * send was told: it was sent to another topic. Told by the send itself, the guard of outputs decides.
     */
    @Test
    void aRefusedRecordPassesWhereTheNextSendIsToldFirst() {
        assertTrue(LostThread.passes(errorState(new InvalidRecordException("Compacted topic cannot accept message"))));
        assertTrue(
                LostThread.passes(errorState(new InvalidTimestampException("Timestamp of message is out of range"))));
        assertTrue(LostThread.passes(errorState(new RecordTooLargeException("larger than the max message size"))));
        assertFalse(LostThread.passes(new StreamsException(
                "Error encountered sending record to topic panes-changelog",
                new RecordTooLargeException("larger than the max message size"))));
    }

    private static StreamsException errorState(ApiException reason) {
        return new StreamsException(
                "Error encountered trying to commit a transaction",
                new KafkaException("Cannot execute transactional method because we are in an error state", reason));
    }

    /** Tests what two instances met that joined and left under load with {@code group.protocol=streams}. */
    @Test
    void aPartitionTakenAwayWhileItWasToBeReadFromItsBeginningPasses() {
        IllegalStateException revoked = new IllegalStateException("No current assignment for partition moments-1");
        revoked.setStackTrace(new StackTraceElement[] {
            new StackTraceElement(
                    "org.apache.kafka.clients.consumer.internals.SubscriptionState",
                    "assignedState",
                    "SubscriptionState.java",
                    1)
        });
        assertTrue(LostThread.passes(new StreamsException(revoked)));
    }

    /** Tests what a monitor met that had been stopped for longer than transaction.timeout.ms. */
    @Test
    void aTransactionThatTheBrokerHasEndedPasses() {
        assertTrue(LostThread.passes(new StreamsException(
                "Error encountered trying to commit a transaction",
                new InvalidTxnStateException(
                        "The producer attempted a transactional operation in an invalid state."))));
    }

    @Test
    void mistakesDoNotPass() {
        assertFalse(LostThread.passes(new StreamsException(
                "Error encountered trying to add offsets to a transaction",
                new KafkaException(
                        "Cannot execute transactional method because we are in an error state",
                        new TransactionalIdAuthorizationException("plumbline-monitor-1")))));
        assertFalse(LostThread.passes(new StreamsException(new TopicAuthorizationException("activations"))));
        assertFalse(LostThread.passes(
                new ProcessorStateException("panes", new IllegalArgumentException("state of version 7"))));
    }

    @Test
    void noMemoryIsToldFromOtherFailures() {
        assertTrue(LostThread.isError(new StreamsException(new OutOfMemoryError("Java heap space"))));
        assertFalse(LostThread.isError(new StreamsException(new IllegalStateException("state of version 7"))));
    }
}
