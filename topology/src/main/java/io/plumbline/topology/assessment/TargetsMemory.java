package io.plumbline.topology.assessment;

import io.plumbline.topology.ingest.TargetSites;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a site with several targets that have a report of a window, kept until all have. At most
 * {@value #WINDOWS} windows are open at once: the oldest is given up then.
 *
 * @param windows by their beginning: how each block stands
 */
record TargetsMemory(Map<Long, List<BlockStanding>> windows) {

    static final int WINDOWS = 16;

    static TargetsMemory decode(byte @Nullable [] stored) {
        return stored == null ? new TargetsMemory(Map.of()) : Json.read(stored, TargetsMemory.class);
    }

    byte[] encode() {
        return Json.bytes(this);
    }

    /** Returns what is remembered after a block's report. */
    TargetsMemory with(WindowReport report) {
        TreeMap<Long, List<BlockStanding>> after = new TreeMap<>(windows);
        List<BlockStanding> standings = new ArrayList<>(after.getOrDefault(report.windowStartMs(), List.of()));
        String block = TargetSites.blockOf(report.site());
        standings.removeIf(standing -> standing.block().equals(block));
        standings.add(new BlockStanding(
                block, report.verdict(), report.trigger(), report.triggerValue(), report.threshold()));
        after.put(report.windowStartMs(), List.copyOf(standings));
        while (after.size() > WINDOWS) {
            after.pollFirstEntry();
        }
        return new TargetsMemory(after);
    }

    /** Returns what is remembered once a window was told of. */
    TargetsMemory without(long windowStartMs) {
        TreeMap<Long, List<BlockStanding>> after = new TreeMap<>(windows);
        after.remove(windowStartMs);
        return new TargetsMemory(after);
    }

    /** Returns how the blocks stand, in the order of their names. */
    List<BlockStanding> of(long windowStartMs) {
        List<BlockStanding> standings = new ArrayList<>(windows.getOrDefault(windowStartMs, List.of()));
        standings.sort((one, other) -> Integer.compare(layer(one), layer(other)));
        return standings;
    }

    private static int layer(BlockStanding standing) {
        return Integer.parseInt(standing.block().substring(standing.block().indexOf('.') + 1));
    }
}
