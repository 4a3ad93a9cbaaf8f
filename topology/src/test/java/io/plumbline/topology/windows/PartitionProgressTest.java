package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class PartitionProgressTest {

    @Test
    void aPaneThatIsArrivingIsWaitedForAfterARestartToo() {
        PartitionProgress progress = new PartitionProgress();
        progress.giveUp();
        assertFalse(restarted(progress).counts());
        progress.beginPane();
        assertTrue(restarted(progress).counts());
    }

    private static PartitionProgress restarted(PartitionProgress progress) {
        ByteBuffer buffer = ByteBuffer.allocate(PartitionProgress.BYTES);
        progress.encode(buffer);
        return PartitionProgress.decode(buffer.flip());
    }
}
