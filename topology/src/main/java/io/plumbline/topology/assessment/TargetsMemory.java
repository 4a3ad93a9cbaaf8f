package io.plumbline.topology.assessment;

import io.plumbline.topology.assessment.AdaptationMessage.BlockRows;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.report.BlockStanding;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a site with several targets that have a report of a window, kept until all have. At most
 * {@value #WINDOWS} windows are open at once: the oldest is given up then.
 *
 * @param windows by their beginning: how each block stands
 */
record TargetsMemory(Map<Long, Window> windows) {

    static final int WINDOWS = 16;

    private static final Window NONE = new Window(List.of(), List.of(), false);

    /**
     * One window that still lacks the report of a block.
     *
     * @param standings how its blocks stand
     * @param asks the rows of the drifted blocks that ask for a refit
     * @param reverts whether a block asks for the trained decoder
     */
    record Window(List<BlockStanding> standings, List<BlockRows> asks, boolean reverts) {

        /** Returns how the blocks stand, in the order of their layers. */
        List<BlockStanding> inOrder() {
            List<BlockStanding> sorted = new ArrayList<>(standings);
            sorted.sort((one, other) -> Integer.compare(layer(one.block()), layer(other.block())));
            return sorted;
        }
    }

    static TargetsMemory decode(byte @Nullable [] stored) {
        return stored == null ? new TargetsMemory(Map.of()) : Json.read(stored, TargetsMemory.class);
    }

    /** Returns whether these bytes are JSON, and so no {@link SiteMemory}. No request is named in it. */
    static boolean isOne(byte[] stored) {
        return stored.length > 0 && stored[0] == '{';
    }

    byte[] encode() {
        return Json.bytes(this);
    }

    /**
     * Returns what is remembered after a block's report.
     *
     * @param asked the rows that the block asks to be refitted with; null where it does not ask
     * @param reverts whether it asks for the trained decoder
     */
    TargetsMemory with(SiteId id, WindowReport report, @Nullable BlockRows asked, boolean reverts) {
        TreeMap<Long, Window> after = new TreeMap<>(windows);
        Window before = of(report.header().windowStartMs());
        String block = id.block();
        BlockStanding standing = new BlockStanding(
                block,
                report.judged().verdict(),
                report.judged().trigger(),
                report.judged().triggerValue(),
                report.judged().threshold());
        after.put(
                report.header().windowStartMs(),
                new Window(
                        Stream.concat(
                                        before.standings().stream()
                                                .filter(other -> !other.block().equals(block)),
                                        Stream.of(standing))
                                .toList(),
                        Stream.concat(
                                        before.asks().stream()
                                                .filter(other -> !Objects.equals(other.target(), id.target())),
                                        Stream.ofNullable(asked))
                                .toList(),
                        before.reverts() || reverts));
        while (after.size() > WINDOWS) {
            after.pollFirstEntry();
        }
        return new TargetsMemory(after);
    }

    /** Returns what is remembered once a window was told of. */
    TargetsMemory without(long windowStartMs) {
        TreeMap<Long, Window> after = new TreeMap<>(windows);
        after.remove(windowStartMs);
        return new TargetsMemory(after);
    }

    Window of(long windowStartMs) {
        return windows.getOrDefault(windowStartMs, NONE);
    }

    private static int layer(String block) {
        return Integer.parseInt(block.substring(block.indexOf('.') + 1));
    }
}
