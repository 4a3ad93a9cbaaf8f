package io.plumbline.topology.adaptation;

import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import io.plumbline.wire.Printable;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows the decoder in service as the one who publishes must see it: its own last word, though its transaction is not
 * committed and no reader has it yet.
 *
 * <p>What was forwarded is remembered until the subscriber has it too, so that a second copy of a decoder is held for
 * moments only; and no longer than this life of the task, since an abort takes it back. A task that comes from
 * elsewhere remembers nothing and waits for the subscriber. One task's; not thread-safe.
 */
final class InService {

    private static final Logger LOG = LoggerFactory.getLogger(InService.class);

    private final ActiveDecoders readBack;
    private final Map<String, Active> forwarded = new HashMap<>();

    InService(ActiveDecoders readBack) {
        this.readBack = readBack;
    }

    void forwarded(String site, Active decoder) {
        forwarded.put(site, decoder);
    }

    /**
     * Returns the decoder in service; null while there is none but the trained one as it came.
     *
     * @param version the newest version by our own committed count
     */
    @Nullable
    Active of(String site, long version) {
        Active ours = forwarded.get(site);
        Active read = readBack.of(site);
        if (ours != null && versionOf(read) < ours.version()) {
            return ours;
        }
        forwarded.remove(site);
        if (versionOf(read) < version) {
            read = readBack.awaitVersion(site, version);
            if (versionOf(read) < version) {
                // Readers have what is on the topic, whatever we once wrote there.
                LOG.warn(
                        "a published version cannot be read from the decoders topic; the newest that can is taken: "
                                + "site={} version={} read_version={}",
                        Printable.value(site),
                        version,
                        versionOf(read));
            }
        }
        return read;
    }

    static long versionOf(@Nullable Active active) {
        return active == null ? 0 : active.version();
    }
}
