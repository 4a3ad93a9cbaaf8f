package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.records.MomentRecord;
import org.junit.jupiter.api.Test;

class TopicsCommandTest {

    /** Tests what a broker with settings of its own refuses: it closes the connection, and no producer hears why. */
    @Test
    void recordsBeyondTheRequestsOfABrokerAreSaid() {
        assertNull(TopicsCommand.beyondRequests(MomentRecord.largestBytes(4_096, 4_096, false, 512)));
        long wide = MomentRecord.largestBytes(5_120, 5_120, false, 512);
        assertEquals(
                "a moment record of the widest site takes up to %d bytes, a broker closes the connection on requests"
                                .formatted(wide)
                        + " beyond 104857600: raise socket.request.max.bytes of every broker, or send such moments as"
                        + " F32, which takes half",
                TopicsCommand.beyondRequests(wide));
    }
}
