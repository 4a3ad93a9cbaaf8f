package io.plumbline.topology.assessment;

import io.plumbline.adaptation.ExplainerTrial;
import io.plumbline.causal.Figure;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Verdict;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.assessment.AdaptationMessage.BlockRows;
import io.plumbline.topology.assessment.SiteJudge.Ask;
import io.plumbline.topology.assessment.SiteJudge.Judgement;
import io.plumbline.topology.ingest.SiteId;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.report.CandidateReport;
import io.plumbline.topology.report.DownstreamReport;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.SiteWindow;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards a report for every closed window to {@code reports}, what drift asks for to {@code requests}, and how a site
 * of a model stands to {@code standings}.
 */
public final class WindowAssessor implements Task<String, MeasuredWindow> {

    /** The name of the store of what is remembered per site. */
    public static final String DECISIONS_STORE = "decisions";

    /** Bytes of whole requests that go to the adapter with one window. */
    static final long MOST_REQUEST_BYTES = 16L << 20;

    /** Significant digits of a number in the log. */
    private static final int DIGITS = 4;

    private static final Logger LOG = LoggerFactory.getLogger(WindowAssessor.class);

    private final ProcessorContext<byte[], byte[]> context;
    private final KeyValueStore<String, byte[]> memories;
    private final WindowMeasurement measurement;
    private final DriftListener listener;
    private final String reports;
    private final String requests;
    private final String standings;
    private final Set<String> judged = new HashSet<>();

    private WindowAssessor(
            ProcessorContext<byte[], byte[]> context,
            WindowMeasurement measurement,
            DriftListener listener,
            String reports,
            String requests,
            String standings) {
        this.context = context;
        memories = context.getStateStore(DECISIONS_STORE);
        this.measurement = measurement;
        this.listener = listener;
        this.reports = reports;
        this.requests = requests;
        this.standings = standings;
    }

    /**
     * @param measurement what the windows were measured with
     * @param reports name of the sink that takes window reports
     * @param requests name of the sink that takes adaptation messages
     * @param standings name of the sink that takes how sites of models stand
     * @param logConfig topic settings of the change-log
     */
    public static ProcessorSupplier<String, MeasuredWindow, byte[], byte[]> supplier(
            WindowMeasurement measurement,
            DriftListener listener,
            String reports,
            String requests,
            String standings,
            Map<String, String> logConfig) {
        StoreBuilder<KeyValueStore<String, byte[]>> decisions = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(DECISIONS_STORE), Serdes.String(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig);
        return TaskProcessor.supplier(
                Set.of(decisions),
                context -> new WindowAssessor(context, measurement, listener, reports, requests, standings));
    }

    /**
     * Returns a value of {@link #DECISIONS_STORE} without one request; the same array where it holds nothing of it.
     *
     * @param request hash of its name
     * @param name cut by {@link io.plumbline.records.RequestName#shortened}
     */
    public static byte[] without(byte[] value, long request, String name) {
        if (TargetsMemory.isOne(value)) {
            return value;
        }
        byte[] kept = SiteMemory.decode(value).without(request, name).encode();
        return kept.length == value.length ? value : kept;
    }

    @Override
    public void process(Record<String, MeasuredWindow> record) {
        ClosedWindow window = record.value().window();
        Measurement measured = record.value().measurement();
        SiteJudge judge = record.value().judge();
        if (judge == null || measured == null) {
            LOG.warn(
                    "a window of a site that is not configured closed and was not judged: site={} window={}",
                    Printable.value(window.site()),
                    Instant.ofEpochMilli(window.startMs()));
            return;
        }
        long begin = System.nanoTime();
        byte[] stored = memories.get(window.site());
        SiteMemory before = stored == null ? SiteMemory.initial() : SiteMemory.decode(stored);
        Judgement judgement = judge.decide(measured, before);
        memories.put(window.site(), judgement.memory().encode());
        if (!judgement.report().violatedBounds().isEmpty()) {
            LOG.error(
                    "the measured gap breaks a bound that is proven: site={} window={} bounds={}\n"
                            + "please report this with the window's report",
                    Printable.value(window.site()),
                    Instant.ofEpochMilli(window.startMs()),
                    Printable.value(judgement.report().violatedBounds()));
        }
        log(before.of(judge.explainerSha256()), judgement);
        logFailure(measured.view().behaviour(), window);
        judged.add(window.site());
        Record<byte[], byte[]> report = record(window.site(), Json.bytes(judgement.report()), record.timestamp());
        report.headers().add(WindowReport.ACCOUNT_HEADER, Json.bytes(window.account()));
        context.forward(report, reports);
        String model = judge.model();
        if (model != null) {
            forward(model, Json.bytes(SiteWindow.of(judgement.report())), record.timestamp(), standings);
        }
        propose(window, judgement, judge, record.timestamp());
        BlockRows asked = ask(measured.view(), before, judgement, judge, record.timestamp());
        WindowBehaviour behaviour = measured.view().behaviour();
        if (behaviour != null) {
            listener.onDownstream(window.site(), behaviour.nanoseconds());
        }
        listener.onReport(judgement.report(), measured.nanoseconds() + System.nanoTime() - begin);
        boolean reverts = judgement.ask() == Ask.REVERT;
        if (judge.id().isBlock()) {
            together(judge.id(), judgement.report(), asked, reverts, record.timestamp());
        } else {
            request(
                    window.site(),
                    judgement.report(),
                    asked == null ? List.of() : List.of(asked),
                    reverts,
                    record.timestamp());
        }
    }

    /**
     * Takes the report of one block of a site with several targets. Once each block has a report of the window,
     * forwards how all of them stand, and what they ask the adapter for.
     *
     * <p>Only drifted blocks ask for a refit: the decoder of a target follows from the codes and that target's rows, so
     * a refit of the others would change nothing. The trained decoder returns when no block is drifted any more.
     */
    private void together(
            SiteId id, WindowReport report, @Nullable BlockRows asked, boolean reverts, long timestampMs) {
        String group = id.group();
        long startMs = report.header().windowStartMs();
        TargetsMemory memory = TargetsMemory.decode(memories.get(group)).with(id, report, asked, reverts);
        TargetsMemory.Window window = memory.of(startMs);
        boolean whole = window.standings().size() >= measurement.blocks(group);
        memories.put(group, (whole ? memory.without(startMs) : memory).encode());
        if (!whole) {
            return;
        }
        judged.add(group);
        TargetsReport all = TargetsReport.of(group, startMs, report.header().windowEndMs(), window.inOrder());
        Record<byte[], byte[]> told = record(group, Json.bytes(all), timestampMs);
        told.headers().add(TargetsReport.HEADER, new byte[] {'1'});
        context.forward(told, reports);
        boolean drifted = window.standings().stream().anyMatch(block -> block.verdict() == Verdict.DRIFTED);
        request(group, report, window.asks(), window.reverts() && !drifted, timestampMs);
        listener.onTargets(all);
    }

    /** Asks the adapter for a refit on these rows, else for the trained decoder, else for nothing. */
    private void request(String site, WindowReport report, List<BlockRows> asks, boolean reverts, long timestampMs) {
        long endMs = report.header().windowEndMs();
        if (!asks.isEmpty()) {
            AdaptationMessage adapt =
                    new AdaptationMessage.Adapt(endMs, report.header().windowStartMs(), asks);
            forward(site, adapt.encode(), timestampMs, requests);
        } else if (reverts) {
            forward(site, new AdaptationMessage.Revert(endMs).encode(), timestampMs, requests);
        }
    }

    private static void logFailure(@Nullable WindowBehaviour behaviour, ClosedWindow window) {
        if (behaviour != null && behaviour.failure() != null) {
            LOG.warn(
                    "a window is reported without what the rest of the model does: site={} window={} reason={}",
                    Printable.value(window.site()),
                    Instant.ofEpochMilli(window.startMs()),
                    Printable.value(behaviour.reason()));
        }
    }

    /** Says when a site becomes drifted and when it is aligned again; what lies between stands in the reports. */
    private static void log(SiteMemory before, Judgement judgement) {
        boolean drifted = judgement.memory().drift().drifted();
        if (drifted == before.drift().drifted()) {
            return;
        }
        WindowReport report = judgement.report();
        Object[] values = {
            Printable.value(report.header().site()),
            Instant.ofEpochMilli(report.header().windowStartMs()),
            report.judged().trigger(),
            figure(report.judged().triggerValue(), report.judged().threshold()),
            figure(report.judged().threshold(), report.judged().triggerValue()),
            figure(report.overThreshold(), 1.0),
            Printable.value(report.judged().reason())
        };
        if (drifted) {
            LOG.warn(
                    "the site has drifted: site={} window={} statistic={} value={} threshold={} over_threshold={} "
                            + "reason={}",
                    values);
        } else {
            LOG.info(
                    "the site is aligned again: site={} window={} statistic={} value={} threshold={} "
                            + "over_threshold={} reason={}",
                    values);
        }
    }

    /** Writes a number with as many digits as tell it from another one. */
    private static String figure(@Nullable Double value, @Nullable Double other) {
        return value == null ? "none" : Amounts.apart(value, other == null ? value : other, DIGITS);
    }

    /** Sends what a refit is made of, and returns the rows that ask for one; null where none is asked for. */
    private @Nullable BlockRows ask(
            WindowView view, SiteMemory before, Judgement judgement, SiteJudge judge, long timestampMs) {
        ClosedWindow window = view.window();
        Ask ask = judgement.ask();
        if (ask == Ask.ROLL_BACK) {
            SwapWatch swap = judgement.memory().swap();
            AdaptationMessage request = new AdaptationMessage.RollBack(
                    window.endMs(),
                    swap.version(),
                    swap.windows(),
                    swap.worse(),
                    orNaN(judgement.report().inService().reconstructionFvu()),
                    fvuBefore(view),
                    klActive(judgement.report().section(Sections.DOWNSTREAM)),
                    judgement.report().geometry().value(Statistic.KL).orElse(Double.NaN));
            forward(judge.id().group(), request.encode(), timestampMs, requests);
        }
        if (ask == Ask.ADAPT) {
            List<byte[]> parts = window.sample().encodeWithout(sent(window, before), RowSample.RECORD_PART_BYTES);
            for (int index = 0; index < parts.size(); index++) {
                byte[] part = new AdaptationMessage.SamplePart(window.endMs(), index, parts.get(index)).encode();
                forward(window.site(), part, timestampMs, requests);
            }
            if (judge.sendsRequests()) {
                sendRequests(window, timestampMs);
            }
            return new BlockRows(
                    judge.id().target(), window.moment().rows(), window.sample().capacity(), parts.size());
        }
        return null;
    }

    /** Asks to propose the candidate that has reconstructed better; with every such window, until it is answered. */
    private void propose(ClosedWindow window, Judgement judgement, SiteJudge judge, long timestampMs) {
        CandidateReport candidate = judgement.report().section(Sections.CANDIDATE);
        if (judgement.proposes() && candidate != null) {
            AdaptationMessage request = new AdaptationMessage.Propose(
                    window.endMs(),
                    judgement.report().inService().decoderVersion(),
                    candidate.explainerSha256(),
                    candidate.windows(),
                    candidate.windowsBetter(),
                    orNaN(candidate.fvuInService()),
                    orNaN(candidate.fvu()));
            forward(judge.id().group(), request.encode(), timestampMs, requests);
        }
    }

    /** Returns the FVU of what a rollback brings back: the trained decoder, or the explainer before a candidate. */
    private static double fvuBefore(WindowView view) {
        ExplainerTrial trial = view.trial();
        return view.adapted() == null && trial != null
                ? trial.shadow().fvu()
                : view.geometry().value(Statistic.RECONSTRUCTION_FVU_TRAINED).orElse(Double.NaN);
    }

    private void sendRequests(ClosedWindow window, long timestampMs) {
        WholeRequests whole = window.whole();
        List<byte[]> parts =
                whole == null ? List.of() : whole.within(MOST_REQUEST_BYTES).encode(RowSample.RECORD_PART_BYTES);
        for (int index = 0; index < parts.size(); index++) {
            byte[] part = new AdaptationMessage.RequestPart(window.endMs(), index, parts.get(index)).encode();
            forward(window.site(), part, timestampMs, requests);
        }
    }

    /** Hashes of the sampled rows that went out with a window before, ascending. */
    private static long[] sent(ClosedWindow window, SiteMemory before) {
        return window.sample().rows().stream()
                .filter(row -> !before.isNew(row))
                .mapToLong(SampledRow::hash)
                .toArray();
    }

    private static double klActive(@Nullable DownstreamReport downstream) {
        Map<String, Figure> active = downstream == null ? null : downstream.active();
        Figure kl = active == null ? null : active.get(Statistic.KL.label());
        return kl == null ? Double.NaN : kl.value();
    }

    private static double orNaN(@Nullable Double value) {
        return value == null ? Double.NaN : value;
    }

    private void forward(String site, byte[] value, long timestampMs, String sink) {
        context.forward(record(site, value, timestampMs), sink);
    }

    private static Record<byte[], byte[]> record(String site, byte[] value, long timestampMs) {
        return new Record<>(site.getBytes(StandardCharsets.UTF_8), value, Math.max(0, timestampMs));
    }

    @Override
    public void close() {
        judged.forEach(listener::onSiteReleased);
    }
}
