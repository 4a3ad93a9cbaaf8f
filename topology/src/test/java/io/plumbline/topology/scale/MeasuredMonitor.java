package io.plumbline.topology.scale;

import io.plumbline.moments.RowMask;
import io.plumbline.topology.HeapUse;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.ingest.IngestTask;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RefusedRecords;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowStage;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;

/**
 * Runs a monitor of random sites in a JVM and a heap of its own. It says how long it took to start, and answers
 * {@code heap} on its standard input with the bytes that are reachable.
 *
 * <p>Arguments: configuration file, width, features, partitions, {@code reports} for the whole monitor or {@code
 * windows} for everything up to closed windows, which leave as start, rows and a hash of every bit of their moments.
 */
final class MeasuredMonitor {

    private MeasuredMonitor() {}

    public static void main(String[] arguments) throws Exception {
        MonitorConfig config = MonitorConfig.load(Path.of(arguments[0]));
        int width = Integer.parseInt(arguments[1]);
        int features = Integer.parseInt(arguments[2]);
        int partitions = Integer.parseInt(arguments[3]);
        long begin = System.nanoTime();
        if (arguments[4].equals("reports")) {
            Map<String, WatchedSite> sites = RandomSites.watched(config, width, features);
            long computed = System.nanoTime();
            PlumblineRuntime runtime = PlumblineRuntime.start(config, sites, Role.MONITOR);
            CapacityEstimate estimate = CapacityEstimate.of(
                    config,
                    new Deployment(partitions, 1, partitions > 1, 0),
                    Runtime.getRuntime().maxMemory());
            // Measured after all windows but one have closed: one pane a site is open where rows are read, none at
            // level 2.
            long open = config.window().openPanesPerPartition();
            long atLevel2 = config.window().openPanesPerWindow();
            long now = estimate.heldBytes()
                    - bytes(estimate, "windows are composed")
                    - bytes(estimate, "as stored") * atLevel2 / (open + atLevel2);
            say(("geometry in %.1f s, ready after %.1f s, port %d, estimate held %d, "
                            + "with the panes open when measured %d")
                    .formatted(
                            (computed - begin) / 1e9,
                            (System.nanoTime() - begin) / 1e9,
                            runtime.httpAddress().getPort(),
                            estimate.heldBytes(),
                            now));
            answer();
            runtime.close();
        } else {
            try (KafkaStreams streams =
                    new KafkaStreams(windows(config, width, partitions), StreamsSettings.monitor(config))) {
                streams.setUncaughtExceptionHandler(error -> {
                    say("failed " + error);
                    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
                });
                streams.start();
                say("ready");
                answer();
            }
        }
    }

    private static long bytes(CapacityEstimate estimate, String what) {
        return estimate.held().stream()
                .filter(part -> part.what().contains(what))
                .mapToLong(CapacityEstimate.Part::bytes)
                .sum();
    }

    private static void answer() throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while ("heap".equals(questions.readLine())) {
            say("heap " + HeapUse.now().bytes());
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static Topology windows(MonitorConfig config, int width, int partitions) {
        Map<String, Integer> widths = config.sites().keySet().stream().collect(Collectors.toMap(s -> s, s -> width));
        Map<String, SiteShape> shapes = config.sites().keySet().stream()
                .collect(Collectors.toMap(s -> s, s -> new SiteShape(s, width, width, false, RowMask.NONE)));
        Silent silent = new Silent();
        WindowStage stage = new WindowStage(
                config.window(),
                config.store(),
                widths,
                config.sampleRows(),
                RequestTotalling.NONE,
                Map.of(),
                silent,
                Map.of());
        WindowStage.Source source =
                new WindowStage.Source(WindowStage.PANES_STORE, widths.keySet(), partitions, SourceWatch.ALWAYS_READ);
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        Topology topology = new Topology();
        topology.addSource(
                AutoOffsetReset.earliest(),
                "activations",
                in,
                in,
                config.topics().activations());
        topology.addProcessor(
                "ingest",
                IngestTask.supplier(
                        shapes,
                        config.limits(),
                        silent,
                        "accumulate",
                        new RefusedRecords("dead-letters", 1_000_000, silent)),
                "activations");
        topology.addProcessor("accumulate", stage.accumulator(source, Limits.DEFAULT.ahead()), "ingest");
        topology.addSink("dead-letters", config.topics().deadLetters(), out, out, "ingest");
        topology.addSink("closed-panes", config.topics().moments(), out, out, "accumulate");
        topology.addSource(
                AutoOffsetReset.earliest(), "moments", in, in, config.topics().moments());
        topology.addProcessor("compose", stage.composer(), "moments");
        topology.addProcessor("print", Printer::new, "compose");
        topology.addSink("prints", config.topics().windowReports(), out, out, "print");
        return topology;
    }

    /** Returns start, rows and hash of a window. */
    static byte[] print(long startMs, long rows, double[] state) {
        long hash = 1125899906842597L;
        for (double value : state) {
            // Small integers have only zeros in their low bits: the shift brings the high ones down.
            hash = (hash ^ Double.doubleToLongBits(value)) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 32;
        }
        return ByteBuffer.allocate(3 * Long.BYTES)
                .putLong(startMs)
                .putLong(rows)
                .putLong(hash)
                .array();
    }

    private static final class Printer extends ContextualProcessor<String, ClosedWindow, byte[], byte[]> {
        @Override
        public void process(Record<String, ClosedWindow> record) {
            ClosedWindow window = record.value();
            byte[] print = print(
                    window.startMs(),
                    window.complete() ? window.moment().rows() : -1,
                    window.moment().state());
            context().forward(new Record<>(window.site().getBytes(StandardCharsets.UTF_8), print, record.timestamp()));
        }
    }

    private record Silent() implements IngestListener, WindowListener {
        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {}

        @Override
        public void onLate(String site, long rows, LateReason reason) {}

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {}

        @Override
        public void onWindowClosed(String site, long rows) {}
    }
}
