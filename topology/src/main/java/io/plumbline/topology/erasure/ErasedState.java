package io.plumbline.topology.erasure;

import io.plumbline.topology.adaptation.AdapterTask;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WindowAssessor;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.windows.WindowStage;
import org.apache.kafka.common.utils.Bytes;

/** Takes one request out of the entries of change-logs. Moments, counts and settings stay as they are. */
public final class ErasedState {

    private ErasedState() {}

    /**
     * Returns an entry without the request; the same array where it holds nothing of it.
     *
     * @param changelog name of the topic, which ends in that of its store
     * @throws IllegalArgumentException or IllegalStateException when the entry is none of this version
     */
    public static byte[] without(String changelog, byte[] key, byte[] value, RequestTrace request) {
        byte[] kept = value;
        for (long hash : request.hashes()) {
            if (isOf(changelog, WindowStage.PANES_STORE) || isOf(changelog, WindowStage.WINDOWS_STORE)) {
                kept = PaneParts.without(Bytes.wrap(key), kept, hash);
            } else if (isOf(changelog, AdapterTask.PARTS_STORE)) {
                kept = AdaptationMessage.without(kept, hash);
            } else if (isOf(changelog, WindowAssessor.DECISIONS_STORE)) {
                kept = WindowAssessor.without(kept, hash, request.name());
            }
        }
        return kept;
    }

    private static boolean isOf(String changelog, String store) {
        return changelog.endsWith("-" + store + "-changelog");
    }
}
