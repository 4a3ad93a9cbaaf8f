package io.plumbline.topology.joining;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The records of one task that wait for parts, the earliest of each site first. One thread. */
final class WaitingRecords {

    private static final Comparator<WaitingRecord> EARLIEST =
            Comparator.comparingLong(WaitingRecord::timestampMs).thenComparingLong(WaitingRecord::firstOffset);

    private final Map<Part.Of, WaitingRecord> byRecord = new HashMap<>();
    private final Map<String, TreeSet<WaitingRecord>> bySite = new TreeMap<>();
    private long bytes;

    @Nullable
    WaitingRecord get(Part.Of of) {
        return byRecord.get(of);
    }

    /** Puts a record in the place of what waited of it before. */
    void put(WaitingRecord record) {
        remove(record.of());
        byRecord.put(record.of(), record);
        bySite.computeIfAbsent(record.of().site(), site -> new TreeSet<>(EARLIEST))
                .add(record);
        bytes += record.bytes();
    }

    void remove(Part.Of of) {
        WaitingRecord before = byRecord.remove(of);
        TreeSet<WaitingRecord> ofSite = bySite.get(of.site());
        if (before != null && ofSite != null) {
            ofSite.remove(before);
            bytes -= before.bytes();
        }
    }

    /** Returns the records of a site that wait now, the earliest first. */
    List<WaitingRecord> of(String site) {
        TreeSet<WaitingRecord> ofSite = bySite.get(site);
        return ofSite == null ? List.of() : List.copyOf(ofSite);
    }

    /** Returns the earliest record of a site, or null where none waits. */
    @Nullable
    WaitingRecord earliest(String site) {
        TreeSet<WaitingRecord> ofSite = bySite.get(site);
        return ofSite == null || ofSite.isEmpty() ? null : ofSite.first();
    }

    /** Returns the earliest record of all sites, or null where none waits. */
    @Nullable
    WaitingRecord earliest() {
        return bySite.keySet().stream()
                .map(this::earliest)
                .filter(Objects::nonNull)
                .min(EARLIEST)
                .orElse(null);
    }

    /** Returns what the parts hold in memory. */
    long bytes() {
        return bytes;
    }
}
