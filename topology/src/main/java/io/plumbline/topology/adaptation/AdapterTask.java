package io.plumbline.topology.adaptation;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.kafka.TaskProcessor;
import io.plumbline.topology.panes.InForce;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the parts of a request and answers it. Heavy: it runs in an application of its own, so that a refit of
 * seconds stalls no window.
 *
 * <p><b>Commands overtake requests.</b> After a refit the task looks ahead in its partition and carries out the
 * commands it finds, in their order. It keeps where they lie, in the same transaction as their effect, and skips
 * their records when it comes to them. So a command waits for the refit that runs on its thread, and for no other.
 */
public final class AdapterTask implements Task<byte @Nullable [], byte @Nullable []> {

    /**
     * The name of the store of the parts of row samples: those that wait for their request, and those that are pooled.
     */
    public static final String PARTS_STORE = "request-parts";

    /** The name of the store that says which windows' rows are pooled, by site. */
    public static final String POOLS_STORE = "row-pools";

    /** The name of the store of what the adapter has committed itself to, by site. */
    public static final String SWAPS_STORE = "swaps";

    private static final Logger LOG = LoggerFactory.getLogger(AdapterTask.class);

    /** Begins the keys under which the swaps store keeps overtaking commands; no site's name has the character. */
    private static final String OVERTAKING = "#";

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

    private final ProcessorContext<String, AdapterAnswer> context;
    private final RowPools pools;
    private final RequestPool requests;
    private final KeyValueStore<String, byte[]> swaps;
    private final InForce<Map<String, SiteAdapter>> adapters;
    private final PublishedCandidates published;
    private final InService inService;
    private final AdaptationListener listener;
    private final Attempts attempts;
    private final WaitingCommands waiting;
    private final Approvers approvers;
    private final Set<String> told = new HashSet<>();

    /** How many messages the tasks of this process answered: where there were none, no command had to wait. */
    private final AtomicLong answered;

    private long answeredAtLastLook;

    /** The offset behind the record that was read last. */
    private long next = WaitingCommands.FROM_COMMITTED;

    /** The offset up to which commands were looked for. */
    private long looked = WaitingCommands.FROM_COMMITTED;

    /** The sites whose rows are pooled, blocks of sites with several targets among them. */
    private final InForce<Set<String>> pooled;

    private final long windowMs;

    private final RefitRequests refits;

    private AdapterTask(
            ProcessorContext<String, AdapterAnswer> context,
            InForce<Map<String, SiteAdapter>> adapters,
            InForce<Set<String>> pooled,
            long windowMs,
            ActiveDecoders activeDecoders,
            PublishedCandidates published,
            AdaptationListener listener,
            Attempts attempts,
            WaitingCommands waiting,
            Approvers approvers,
            AtomicLong answered) {
        this.context = context;
        this.adapters = adapters;
        this.pooled = pooled;
        this.windowMs = windowMs;
        this.inService = new InService(activeDecoders);
        this.published = published;
        this.listener = listener;
        this.attempts = attempts;
        this.waiting = waiting;
        this.approvers = approvers;
        this.answered = answered;
        pools = new RowPools(context.getStateStore(PARTS_STORE), context.getStateStore(POOLS_STORE));
        requests = new RequestPool(context.getStateStore(PARTS_STORE));
        swaps = context.getStateStore(SWAPS_STORE);
        refits = new RefitRequests(pools, requests, listener);
        pools.rows().forEach(this::tell);
        // Called between records, those of the thread's other partitions too: after a refit of theirs as well.
        context.schedule(BETWEEN_LOOKS, PunctuationType.WALL_CLOCK_TIME, nowMs -> lookAfterAnswers());
    }

    /**
     * @param sites that are watched here
     * @param windowMs length of a window
     * @param probes run the rest of the model of the sites that name it
     * @param activeDecoders what is on the topic, as readers see it
     * @param waiting finds commands ahead of what was read
     * @param approvers whose commands are carried out
     * @param logConfig topic settings of the change-logs
     */
    public static ProcessorSupplier<byte[], byte[], String, AdapterAnswer> supplier(
            InForce<Adapting> sites,
            long windowMs,
            Map<String, BehaviourProbe> probes,
            ActiveDecoders activeDecoders,
            PublishedCandidates published,
            AdaptationListener listener,
            WaitingCommands waiting,
            Approvers approvers,
            Map<String, String> logConfig) {
        InForce<Map<String, SiteAdapter>> adapters =
                sites.map(all -> SiteAdapter.all(all.sites(), all.settings(), all.rules(), probes, published));
        InForce<Set<String>> pooled = adapters.map(all -> all.values().stream()
                .flatMap(adapter -> adapter.blocks().stream())
                .map(SiteAdapter.Block::site)
                .collect(Collectors.toUnmodifiableSet()));
        Attempts attempts = new Attempts();
        AtomicLong answered = new AtomicLong();
        Set<StoreBuilder<?>> stores =
                Set.of(store(PARTS_STORE, logConfig), store(POOLS_STORE, logConfig), store(SWAPS_STORE, logConfig));
        return TaskProcessor.supplier(
                stores,
                context -> new AdapterTask(
                        context,
                        adapters,
                        pooled,
                        windowMs,
                        activeDecoders,
                        published,
                        listener,
                        attempts,
                        waiting,
                        approvers,
                        answered));
    }

    private static StoreBuilder<?> store(String name, Map<String, String> logConfig) {
        return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.ByteArray())
                .withLoggingEnabled(logConfig);
    }

    @Override
    public void close() {
        told.forEach(listener::onPoolReleased);
    }

    private void tell(String site, int pooledRows) {
        if (pooled.newest().contains(site)) {
            told.add(site);
            listener.onPooled(site, pooledRows);
        }
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        next = place().offset() + 1;
        byte[] key = record.key();
        byte[] value = record.value();
        if (key == null || value == null) {
            skip("", "it has no " + (key == null ? "key" : "value"));
            return;
        }
        String site = new String(key, StandardCharsets.UTF_8);
        AdaptationMessage message;
        try {
            message = AdaptationMessage.decode(value);
        } catch (IllegalArgumentException e) {
            // Stopping would not help: the record would be read again for ever.
            skip(site, String.valueOf(e.getMessage()));
            return;
        }
        SiteAdapter adapter = adapter(site, message);
        if (message instanceof AdaptationMessage.Command command) {
            if (!hasOvertaken(place().offset(), command)) {
                carryOut(site, command, record.timestamp());
            }
        } else if (message instanceof AdaptationMessage.SamplePart part
                && pooled.at(begin(part)).contains(site)) {
            pools.keep(site, part, value);
        } else if (adapter == null) {
            LOG.warn(
                    "the site does not adapt here, so its request was skipped: site={}\n"
                            + "to have it adapt: adaptation: {mode: propose} or {mode: auto} at the site, "
                            + "in the configuration of this process",
                    Printable.value(site));
        } else if (message instanceof AdaptationMessage.SamplePart) {
            skip(site, "rows of a site with several targets are those of its targets");
        } else if (message instanceof AdaptationMessage.RequestPart part) {
            requests.keep(site, part, value);
        } else {
            answer(site, adapter, message, record.timestamp());
            settle(adapter, message.windowEndMs());
        }
    }

    /** Returns how a site adapts in the window that a message is about, or at the time of a command; null: not. */
    private @Nullable SiteAdapter adapter(String site, AdaptationMessage message) {
        return adapters.at(begin(message)).get(site);
    }

    private long begin(AdaptationMessage message) {
        return message instanceof AdaptationMessage.Command ? message.windowEndMs() : message.windowEndMs() - windowMs;
    }

    /**
     * Keeps what is pooled by now, and tells how much that is.
     *
     * @param answeredMs end of the window that was answered
     */
    private void settle(SiteAdapter adapter, long answeredMs) {
        for (SiteAdapter.Block block : adapter.blocks()) {
            requests.keepOnly(block.site(), pools.of(block.site()), answeredMs);
            tell(block.site(), pools.of(block.site()).rows());
        }
    }

    /** Says that a site is not configured here: a monitor that is configured otherwise need not hear it. */
    private static String unknown(String site) {
        return ("site \"%s\" does not adapt here: either it only observes, and adaptation: {mode: "
                        + "propose} (or auto) changes that, or the configuration has no site of that name")
                .formatted(site);
    }

    private void carryOut(String site, AdaptationMessage.Command given, long timestampMs) {
        AdaptationMessage.Command command = approvers.known(site, given);
        if (command == null) {
            AdaptationReport report = AdaptationReport.plain(site, 0, Outcome.REJECTED, approvers.refusal(given), 0);
            forward(site, AdapterAnswer.said(report).to(given), timestampMs);
            return;
        }
        SiteAdapter configured = adapter(site, given);
        if (configured == null) {
            AdaptationReport report = AdaptationReport.plain(site, 0, Outcome.REJECTED, unknown(site), 0);
            forward(site, AdapterAnswer.said(report).to(command), timestampMs);
            return;
        }
        String foreign = foreignExplainer(site, configured);
        if (foreign != null) {
            AdaptationReport report = AdaptationReport.plain(site, 0, Outcome.REJECTED, foreign, 0);
            forward(site, AdapterAnswer.said(report).to(command), timestampMs);
            return;
        }
        Known known = known(site, configured);
        SiteAdapter adapter = known.adapter();
        SwapState state = known.state();
        SwapDesk.Standing standing = standing(adapter, state, known.active());
        AdapterAnswer answer =
                adapter.desk().command(command, state, standing, timestampMs).to(command);
        carryOut(site, adapter, answer.since(state), timestampMs);
        settle(adapter, RowPool.NEVER); // a command is about no window, and may come between the parts of one
    }

    private void lookAfterAnswers() {
        long count = answered.get();
        if (count != answeredAtLastLook) {
            answeredAtLastLook = count;
            carryOutWaiting();
        }
    }

    /** Carries out the commands that lie behind what was read. */
    private void carryOutWaiting() {
        WaitingCommands.Found found = waiting.after(context.taskId().partition(), Math.max(next, looked));
        looked = found.next();
        for (WaitingCommands.Waiting one : found.commands()) {
            String key = OVERTAKING + one.offset();
            byte[] id = one.command().id().getBytes(StandardCharsets.UTF_8);
            if (!Arrays.equals(id, swaps.get(key))) {
                carryOut(one.site(), one.command(), one.timestampMs());
                swaps.put(key, id);
            }
        }
    }

    /** Returns whether this command was carried out ahead, and forgets it: its record is not read again. */
    private boolean hasOvertaken(long offset, AdaptationMessage.Command command) {
        byte[] id = swaps.delete(OVERTAKING + offset);
        // Another id: the topic was made anew, and its offsets begin again.
        return Arrays.equals(command.id().getBytes(StandardCharsets.UTF_8), id);
    }

    private void answer(String site, SiteAdapter configured, AdaptationMessage message, long nowMs) {
        String foreign = foreignExplainer(site, configured);
        if (foreign != null) {
            AdaptationReport report = AdaptationReport.plain(site, message.windowEndMs(), Outcome.FAILED, foreign, 0);
            forward(site, AdapterAnswer.said(report), nowMs);
            return;
        }
        Known known = known(site, configured);
        SiteAdapter adapter = known.adapter();
        SwapState state = known.state();
        Active active = known.active();
        SwapDesk.Standing standing = standing(adapter, state, active);
        SwapDesk desk = adapter.desk();
        AdapterAnswer answer = null;
        Map<String, AdapterAnswer> ofBlocks = new LinkedHashMap<>();
        answered.incrementAndGet();
        if (message instanceof AdaptationMessage.Adapt adapt) {
            RefitRequests.Answered refitted = refits.answer(
                    adapter, adapt, state, standing, active, () -> attempts.begin(place()) <= Attempts.MOST, nowMs);
            ofBlocks.putAll(refitted.blocks());
            answer = refitted.all();
        } else if (message instanceof AdaptationMessage.Revert revert) {
            empty(adapter);
            answer = desk.reverted(revert, state, standing);
        } else if (message instanceof AdaptationMessage.RollBack rollBack) {
            answer = desk.rolledBack(rollBack, state, standing);
        } else if (message instanceof AdaptationMessage.Propose propose) {
            answer = desk.proposed(propose, state, standing, nowMs);
        }
        SwapState before = state;
        if (answer != null && message instanceof AdaptationMessage.Adapt && answer.publication() != null) {
            carryOutWaiting();
            Known now = known(site, configured);
            SwapState meanwhile = now.state();
            if (!meanwhile.equals(state)) {
                AdapterAnswer late = now.adapter()
                        .desk()
                        .overtaken(
                                message,
                                answer.report(),
                                meanwhile,
                                standing(now.adapter(), meanwhile, now.active()),
                                nowMs);
                ofBlocks.replaceAll((block, said) -> AdapterAnswer.said(
                        said.report().with(late.outcome(), late.report().reason(), 0)));
                answer = late;
                before = meanwhile;
            }
        }
        ofBlocks.forEach((block, said) -> forward(block, said, nowMs));
        if (answer != null) {
            carryOut(site, adapter, answer.since(before), nowMs);
        }
    }

    /** Deletes the pooled rows of a site, and the requests of their windows. */
    private void empty(SiteAdapter adapter) {
        for (SiteAdapter.Block block : adapter.blocks()) {
            requests.keepOnly(
                    block.site(), RowPool.EMPTY, pools.of(block.site()).newestMs());
            pools.empty(block.site());
        }
    }

    /**
     * The knowledge of a site.
     *
     * @param adapter for the explainer in service
     * @param active the decoder in service; null: the trained one as it came
     */
    private record Known(
            SiteAdapter adapter, SwapState state, @Nullable Active active) {}

    /**
     * Takes the adapter from the decoder in service, whose explainer the monitor judges by: a state may be lost, or
     * older than the configuration.
     */
    private Known known(String site, SiteAdapter configured) {
        SwapState state = state(site);
        Active active = inService.of(site, state.version());
        SiteAdapter adapter = configured.of(active == null ? state.explainerSha256() : active.explainerSha256());
        return new Known(
                adapter, state.explainedBy(adapter.equals(configured) ? null : adapter.trainedSha256()), active);
    }

    /**
     * Returns why nothing can be done about a site: the explainer that serves it is not configured here, so that this
     * process can neither read its decoders nor judge by it. Null where it is.
     */
    private @Nullable String foreignExplainer(String site, SiteAdapter configured) {
        String serving = state(site).explainerSha256();
        return serving == null
                        || serving.equals(configured.trainedSha256())
                        || !configured.of(serving).equals(configured)
                ? null
                : ("it is served by the explainer whose trained decoder is %s, which is not configured here: name it as"
                                + " explainer or candidate of site %s")
                        .formatted(serving, site);
    }

    /**
     * Returns what is in service by our own count, unless the application was reset or got another name: readers refuse
     * one that starts anew.
     */
    private static SwapDesk.Standing standing(SiteAdapter adapter, SwapState state, @Nullable Active active) {
        if (active != null && active.version() > state.version()) {
            return new SwapDesk.Standing(
                    active.version(), !active.decoder().sha256().equals(adapter.trainedSha256()));
        }
        return new SwapDesk.Standing(state.version(), state.adapted());
    }

    private void carryOut(String site, SiteAdapter adapter, AdapterAnswer answer, long timestampMs) {
        SwapState next = answer.state();
        boolean otherExplainer = next != null
                && !Objects.equals(next.explainerSha256(), state(site).explainerSha256());
        if (answer.outcome() == Outcome.ROLLED_BACK || otherExplainer) {
            empty(adapter); // the rows led to a decoder that did worse, or drifted from another explainer
        }
        if (next != null) {
            swaps.put(site, next.encode());
        }
        forward(site, answer, timestampMs);
        Publication publication = answer.publication();
        if (publication != null && publication.kind() != DecoderKind.CANDIDATE) {
            inService.forwarded(
                    site, new Active(publication.decoder(), publication.version(), null, publication.parentSha256()));
        }
    }

    private void skip(String site, String reason) {
        RecordMetadata place = place();
        LOG.warn(
                "a record is no adaptation message and was skipped: site={} topic={} partition={} offset={} reason={}",
                Printable.value(site),
                place.topic(),
                place.partition(),
                place.offset(),
                Printable.value(reason));
        listener.onForeign();
    }

    private RecordMetadata place() {
        return context.recordMetadata().orElseThrow();
    }

    private void forward(String site, AdapterAnswer answer, long timestampMs) {
        context.forward(new Record<>(site, answer, timestampMs));
    }

    private SwapState state(String site) {
        byte[] stored = swaps.get(site);
        if (stored != null) {
            return SwapState.decode(stored);
        }
        SwapState told = published.lastTold(site);
        return told == null ? SwapState.INITIAL : told;
    }
}
