package io.plumbline.topology.runtime;

import io.plumbline.geometry.Subspace;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The decoders in service by site. Those that are taken together are there together: whoever sees one of them sees the
 * others from then on, too. Thread-safe; asking takes no lock.
 */
final class DecodersInService {

    private volatile Map<String, Active> active = Map.of();

    /** Returns the decoder of a site, or null while the trained one as it came is in service. */
    @Nullable
    Active of(String site) {
        return active.get(site);
    }

    /** Returns the sites with a published decoder. */
    Set<String> sites() {
        return active.keySet();
    }

    /** Takes these into service, all at once. */
    synchronized void take(Map<String, Active> together) {
        Map<String, Active> next = new HashMap<>(active);
        next.putAll(together);
        active = Map.copyOf(next);
        notifyAll();
    }

    /** Adds the directions that a version writes in, if it is still the one in service. */
    synchronized void measured(String site, long version, Subspace subspace) {
        Active newest = active.get(site);
        if (newest != null && newest.version() == version) {
            take(Map.of(site, new Active(newest.decoder(), version, subspace, newest.explainerSha256())));
        }
    }

    /** Waits until this version or a newer one is in service, and returns what there is after that time. */
    @Nullable
    Active await(String site, long version, long nanoseconds) throws InterruptedException {
        long deadline = System.nanoTime() + nanoseconds;
        synchronized (this) {
            for (long left = nanoseconds; left > 0 && !has(site, version); left = deadline - System.nanoTime()) {
                wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
            }
        }
        return active.get(site);
    }

    private boolean has(String site, long version) {
        Active newest = active.get(site);
        return newest != null && newest.version() >= version;
    }
}
