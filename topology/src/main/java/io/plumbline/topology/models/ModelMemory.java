package io.plumbline.topology.models;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.plumbline.judgement.DriftState;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.SiteStanding;
import io.plumbline.topology.report.SiteWindow;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a model that the monitor keeps between windows. JSON in the store.
 *
 * <p>A window is ready when each site has one, or has a later one: windows of a site come in their order, so that it
 * has none for this time. What else is missing is waited for by the wall clock. At most {@value #WINDOWS} are open: the
 * oldest is reported then as it is.
 *
 * @param version of this layout
 * @param drift debounce
 * @param toldMs beginning of the newest window that was reported; {@link #NEVER} before the first
 * @param newestMs beginning of the newest window of each site
 * @param open windows that are waited for, by their beginning
 */
record ModelMemory(int version, DriftState drift, long toldMs, Map<String, Long> newestMs, Map<Long, Open> open) {

    static final ModelMemory INITIAL =
            new ModelMemory(ModelMemory.VERSION, DriftState.INITIAL, ModelMemory.NEVER, Map.of(), Map.of());

    private static final int VERSION = 1;
    private static final long NEVER = Long.MIN_VALUE;
    private static final int WINDOWS = 64;

    ModelMemory {
        newestMs = Map.copyOf(newestMs);
        open = Map.copyOf(open);
    }

    /** A window that lacks sites. */
    record Open(long endMs, Map<String, SiteStanding> sites) {
        Open {
            sites = Map.copyOf(sites);
        }
    }

    static ModelMemory decode(byte @Nullable [] stored) {
        if (stored == null) {
            return INITIAL;
        }
        try {
            ModelMemory memory = Json.read(stored, ModelMemory.class);
            if (memory.version() != VERSION) {
                throw new IllegalArgumentException("version " + memory.version());
            }
            return memory;
        } catch (IllegalArgumentException foreign) {
            throw new IllegalStateException(
                    ("the state store holds a memory of a model this program did not write (%s); "
                                    + "reset the application's state")
                            .formatted(foreign.getMessage()),
                    foreign);
        }
    }

    byte[] encode() {
        return Json.bytes(this);
    }

    /** Returns whether a window of this beginning was reported already. */
    boolean isTold(long startMs) {
        return startMs <= toldMs;
    }

    /** Returns whether the oldest open window lacks a site. */
    boolean isAwaited(String site) {
        Long oldest = oldest();
        Open window = oldest == null ? null : open.get(oldest);
        return window != null && !window.sites().containsKey(site);
    }

    ModelMemory with(SiteWindow window) {
        String site = window.standing().site();
        Map<String, Long> newest = new HashMap<>(newestMs);
        newest.merge(site, window.windowStartMs(), Math::max);
        Map<Long, Open> after = new HashMap<>(open);
        Open before = after.get(window.windowStartMs());
        Map<String, SiteStanding> sites = new HashMap<>(before == null ? Map.of() : before.sites());
        sites.put(site, window.standing());
        after.put(window.windowStartMs(), new Open(window.windowEndMs(), sites));
        return new ModelMemory(version, drift, toldMs, newest, after);
    }

    /** Returns the beginning of the oldest open window; null where none is open. */
    @JsonIgnore
    @Nullable
    Long oldest() {
        return open.isEmpty() ? null : Long.valueOf(new TreeMap<>(open).firstKey());
    }

    /** Returns whether nothing more is to come for the oldest window, or it cannot be kept. */
    boolean isReady(long startMs, Collection<String> sites) {
        return open.size() > WINDOWS || sites.stream().allMatch(site -> newestMs.getOrDefault(site, NEVER) >= startMs);
    }

    /** Returns what is remembered once the oldest window was reported. */
    ModelMemory told(long startMs, DriftState after) {
        Map<Long, Open> rest = new HashMap<>(open);
        rest.remove(startMs);
        return new ModelMemory(version, after, startMs, newestMs, rest);
    }
}
