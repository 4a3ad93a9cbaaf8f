package io.plumbline.topology.assessment;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.assessment.AdaptationMessage.BlockRows;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.report.BlockStanding;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Puts the blocks of a site with several targets together: once each has a report of a window, it tells how all of them
 * stand, and asks the adapter for all of them at once.
 *
 * <p>Drifted blocks alone are to be refitted: the decoder of a target follows from the codes and that target's rows, so
 * that the others would be what they are. The trained decoder returns when no block is drifted any more.
 */
final class TargetsAssessor {

    private final ProcessorContext<byte[], byte[]> context;
    private final KeyValueStore<String, byte[]> memories;
    private final WindowMeasurement measurement;
    private final DriftListener listener;
    private final String reports;
    private final String requests;

    TargetsAssessor(
            ProcessorContext<byte[], byte[]> context,
            KeyValueStore<String, byte[]> memories,
            WindowMeasurement measurement,
            DriftListener listener,
            String reports,
            String requests) {
        this.context = context;
        this.memories = memories;
        this.measurement = measurement;
        this.listener = listener;
        this.reports = reports;
        this.requests = requests;
    }

    /**
     * Takes the report of one block. Returns whether it was the last of its window.
     *
     * @param asked the rows that the block asks to be refitted with; null where it does not ask
     * @param reverts whether it asks for the trained decoder
     */
    boolean take(SiteId id, WindowReport report, @Nullable BlockRows asked, boolean reverts, long timestampMs) {
        String group = id.group();
        TargetsMemory memory = TargetsMemory.decode(memories.get(group)).with(id, report, asked, reverts);
        TargetsMemory.Window window = memory.of(report.header().windowStartMs());
        if (window.standings().size() < measurement.blocks(group)) {
            memories.put(group, memory.encode());
            return false;
        }
        memories.put(group, memory.without(report.header().windowStartMs()).encode());
        List<BlockStanding> standings = window.inOrder();
        TargetsReport all = TargetsReport.of(
                group, report.header().windowStartMs(), report.header().windowEndMs(), standings);
        Record<byte[], byte[]> told = record(group, Json.bytes(all), timestampMs);
        told.headers().add(TargetsReport.HEADER, new byte[] {'1'});
        context.forward(told, reports);
        AdaptationMessage request = request(window, report);
        if (request != null) {
            context.forward(record(group, request.encode(), timestampMs), requests);
        }
        listener.onTargets(all);
        return true;
    }

    private static @Nullable AdaptationMessage request(TargetsMemory.Window window, WindowReport report) {
        if (!window.asks().isEmpty()) {
            return new AdaptationMessage.Adapt(
                    report.header().windowEndMs(), report.header().windowStartMs(), window.asks());
        }
        boolean drifted = window.standings().stream().anyMatch(block -> block.verdict() == Verdict.DRIFTED);
        return window.reverts() && !drifted
                ? new AdaptationMessage.Revert(report.header().windowEndMs())
                : null;
    }

    private static Record<byte[], byte[]> record(String group, byte[] value, long timestampMs) {
        return new Record<>(group.getBytes(StandardCharsets.UTF_8), value, Math.max(0, timestampMs));
    }
}
