package io.plumbline.topology.models;

import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftPolicy.Transition;
import io.plumbline.judgement.Threshold.Level;
import io.plumbline.judgement.Verdict;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SiteStanding;
import io.plumbline.topology.report.SiteWindow;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Forwards a report for every window of a model. */
public final class ModelStage implements Task<byte[], byte[]> {

    /** The name of the store of what is remembered per model. */
    public static final String MODELS_STORE = "models";

    private static final Logger LOG = LoggerFactory.getLogger(ModelStage.class);
    private static final Duration TICK = Duration.ofSeconds(1);

    private final ProcessorContext<byte[], byte[]> context;
    private final KeyValueStore<String, byte[]> memories;
    private final InForce<Map<String, ModelSettings>> models;
    private final DriftListener listener;

    private final Set<String> judged = new HashSet<>();

    /** Times at which the open windows of each model were seen first, by the wall clock of this instance. */
    private final Map<String, Map<Long, Long>> waiting = new HashMap<>();

    private ModelStage(
            ProcessorContext<byte[], byte[]> context,
            InForce<Map<String, ModelSettings>> models,
            DriftListener listener) {
        this.context = context;
        memories = context.getStateStore(MODELS_STORE);
        this.models = models;
        this.listener = listener;
        context.schedule(TICK, PunctuationType.WALL_CLOCK_TIME, this::tick);
    }

    /**
     * @param models by name; always the same ones, with the same sites
     * @param logConfig topic settings of the change-log
     */
    public static ProcessorSupplier<byte[], byte[], byte[], byte[]> supplier(
            InForce<Map<String, ModelSettings>> models, DriftListener listener, Map<String, String> logConfig) {
        StoreBuilder<KeyValueStore<String, byte[]>> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(MODELS_STORE), Serdes.String(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig);
        return TaskProcessor.supplier(Set.of(store), context -> new ModelStage(context, models, listener));
    }

    @Override
    public void process(Record<byte[], byte[]> record) {
        String name = record.key() == null ? "" : new String(record.key(), StandardCharsets.UTF_8);
        ModelSettings model = models.newest().get(name);
        SiteWindow window;
        try {
            window = Json.read(record.value() == null ? new byte[0] : record.value(), SiteWindow.class);
        } catch (IllegalArgumentException foreign) {
            LOG.warn(
                    "a record is no window of a site and was left out: model={} reason={}",
                    Printable.value(name),
                    Printable.value(foreign.getMessage()));
            listener.onForeignWindow();
            return;
        }
        if (model == null || !model.sites().contains(window.standing().site())) {
            return; // of another configuration
        }
        ModelMemory memory = ModelMemory.decode(memories.get(name));
        if (memory.isTold(window.windowStartMs())) {
            LOG.warn(
                    "a window of a site came after that of its model was judged without it: model={} site={} window={}",
                    Printable.value(name),
                    Printable.value(window.standing().site()),
                    Instant.ofEpochMilli(window.windowStartMs()));
            listener.onLateSite(name);
            return;
        }
        if (memory.isAwaited(window.standing().site())) {
            // It goes on, perhaps from far behind: the windows wait for it anew.
            waiting.remove(name);
        }
        memories.put(
                name, tellReady(model, memory.with(window), record.timestamp()).encode());
    }

    /** Reports the windows that have waited for long enough. */
    private void tick(long nowMs) {
        for (ModelSettings model : models.newest().values()) {
            byte[] stored = memories.get(model.model());
            if (stored == null) {
                continue;
            }
            ModelMemory before = ModelMemory.decode(stored);
            Map<Long, Long> since = waiting.computeIfAbsent(model.model(), name -> new HashMap<>());
            since.keySet().retainAll(before.open().keySet());
            before.open().keySet().forEach(startMs -> since.putIfAbsent(startMs, nowMs));
            long latest = nowMs - model.longestWait().toMillis();
            ModelMemory after = before;
            for (Long oldest = after.oldest();
                    oldest != null && since.getOrDefault(oldest, nowMs) <= latest;
                    oldest = after.oldest()) {
                long endMs = Objects.requireNonNull(after.open().get(oldest)).endMs();
                after = tellReady(model, tell(model, after, oldest, endMs), endMs);
            }
            if (after.toldMs() != before.toldMs()) {
                memories.put(model.model(), after.encode());
            }
        }
    }

    private ModelMemory tellReady(ModelSettings model, ModelMemory memory, long timestampMs) {
        ModelMemory rest = memory;
        for (Long oldest = rest.oldest();
                oldest != null && rest.isReady(oldest, model.sites());
                oldest = rest.oldest()) {
            rest = tell(model, rest, oldest, timestampMs);
        }
        return rest;
    }

    private ModelMemory tell(ModelSettings model, ModelMemory memory, long startMs, long timestampMs) {
        ModelMemory.Open window = Objects.requireNonNull(memory.open().get(startMs));
        ModelSettings inForce = models.at(startMs).getOrDefault(model.model(), model);
        Judged judged = judged(inForce, memory, startMs, window);
        Record<byte[], byte[]> told = new Record<>(
                model.model().getBytes(StandardCharsets.UTF_8), Json.bytes(judged.report()), Math.max(0, timestampMs));
        told.headers().add(ModelReport.HEADER, new byte[] {'1'});
        context.forward(told);
        log(judged);
        this.judged.add(model.model());
        listener.onModelReport(judged.report());
        return memory.told(startMs, judged.outcome().state());
    }

    private record Judged(ModelReport report, DriftPolicy.Outcome outcome) {}

    private static Judged judged(ModelSettings model, ModelMemory memory, long startMs, ModelMemory.Open window) {
        List<SiteStanding> sites = model.sites().stream()
                .flatMap(site -> Stream.ofNullable(window.sites().get(site)))
                .toList();
        SiteStanding worst = sites.isEmpty() ? null : ModelReport.worst(sites);
        Double over = worst == null || worst.height() < 0.0 ? null : Double.valueOf(worst.height());
        List<String> above = sites.stream()
                .filter(SiteStanding::isAbove)
                .map(SiteStanding::site)
                .toList();
        Level one = new Level.Known(1.0, null);
        DriftPolicy.Outcome outcome = worst == null || over == null
                ? model.debounce().undecided(memory.drift(), "no site of the model could be judged")
                : model.debounce().judge(memory.drift(), over, one, one);
        ModelReport report = new ModelReport(
                model.model(),
                startMs,
                window.endMs(),
                outcome.verdict().kind(),
                reason(outcome, worst, above.size(), sites, model.sites().size()),
                over,
                worst == null || over == null ? null : worst.site(),
                above.isEmpty() ? null : above.get(0),
                above,
                sites.stream()
                        .filter(site -> site.verdict() == Verdict.DRIFTED)
                        .map(SiteStanding::site)
                        .toList(),
                model.sites().stream()
                        .filter(site -> !window.sites().containsKey(site))
                        .toList(),
                sites);
        return new Judged(report, outcome);
    }

    private static String reason(
            DriftPolicy.Outcome outcome, @Nullable SiteStanding worst, int above, List<SiteStanding> sites, int all) {
        String statistic = worst == null ? "" : "%s of %s over its threshold".formatted(worst.trigger(), worst.site());
        String reason = outcome.verdict().reason(statistic);
        long undecided = sites.stream()
                .filter(site -> site.verdict() == Verdict.UNDECIDED)
                .count();
        return (above == 0 ? reason : "%s; %d of %d sites are above theirs".formatted(reason, above, all))
                + (undecided == 0 ? "" : "; %d of %d are undecided".formatted(undecided, all));
    }

    private static void log(Judged judged) {
        ModelReport report = judged.report();
        if (judged.outcome().transition() == Transition.BECAME_DRIFTED) {
            LOG.warn(
                    "the model has drifted: model={} window={} worst={} first={} above={} reason={}",
                    Printable.value(report.model()),
                    Instant.ofEpochMilli(report.windowStartMs()),
                    Printable.value(String.valueOf(report.worstSite())),
                    Printable.value(String.valueOf(report.firstSite())),
                    report.sitesAbove().size(),
                    Printable.value(report.reason()));
        } else if (judged.outcome().transition() == Transition.BECAME_ALIGNED) {
            LOG.info(
                    "the model is aligned again: model={} window={} reason={}",
                    Printable.value(report.model()),
                    Instant.ofEpochMilli(report.windowStartMs()),
                    Printable.value(report.reason()));
        }
    }

    @Override
    public void close() {
        judged.forEach(listener::onModelReleased);
    }
}
