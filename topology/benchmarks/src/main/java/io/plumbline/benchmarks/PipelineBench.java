package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Windows;
import io.plumbline.fixtures.TemporaryFolder;
import io.plumbline.parallel.Cores;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the monitor reading a topic, and others reading the same one: they take turns, round after round.
 *
 * <p>Everything lies in one temporary folder, which is gone when this is closed; {@link #close} may be called by
 * another thread.
 */
final class PipelineBench implements AutoCloseable {

    static final String ROWS_PER_SECOND = "rows/s";
    static final String MONITOR = "plumbline monitor";
    private static final String ONE_CORE = "plumbline monitor, rows summed by the stream thread itself";
    private static final String TWO = "plumbline monitor, 2 partitions, 2 threads";
    private static final String TWO_ALONE = TWO + ", the broker's processor time taken out";
    private static final String HOPPING = "plumbline monitor, hopping, 12 panes of 1 s";
    private static final String TUMBLING = "plumbline monitor, tumbling 1 s, as many reports";
    private static final String CONSUMER = "bare consumer, poll loop";
    private static final String AGGREGATE = "DSL aggregate, plain loops";
    private static final String AGGREGATE_OURS = "DSL aggregate, plumbline's kernel";
    private static final String PYTHON_PROGRAM = "Python";
    private static final String PYTHON = "Python, confluent-kafka and NumPy, 1 thread";
    private static final String PYTHON_ALL = "Python, confluent-kafka and NumPy, all cores";

    /** Rows in a record of the first width. */
    private static final int ROWS_A_RECORD = 64;

    private static final int MORE_ROWS_A_RECORD = 256;

    /**
     * The numbers of rows in a record of a server that keeps the last token only, or a few; the price of a record rules
     * there.
     */
    private static final List<Integer> FEW_ROWS_A_RECORD = List.of(1, 8);

    /** The seconds after which rivals stop: slow ones do not read to the end. */
    private static final double RIVAL_SECONDS = 4.0;

    private final BenchPlan plan;
    private final Findings findings;
    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private final boolean python;
    private @Nullable TemporaryFolder folder;
    private String bootstrapServers = "";
    private Supplier<Duration> brokerTime = () -> Duration.ZERO;
    private int runs;

    /** Readers in this process that have run before. */
    private final Set<String> warm = new HashSet<>();

    PipelineBench(BenchPlan plan, Findings findings) {
        this.plan = plan;
        this.findings = findings;
        String missing = plan.rivals() ? PythonRun.missing() : null;
        if (missing != null) {
            findings.notes.add(missing);
        }
        this.python = plan.rivals() && missing == null;
    }

    /** One reader of a topic. */
    @FunctionalInterface
    interface Reader {
        double rowsPerSecond() throws IOException, InterruptedException;
    }

    /** Starts the broker. */
    void start() throws IOException {
        findings.next("starting a Kafka broker in a process of its own");
        folder = own(TemporaryFolder.create("plumbline-bench-"));
        BrokerProcess broker = own(BrokerProcess.start(folder.root().resolve("broker")));
        bootstrapServers = broker.bootstrapServers();
        brokerTime = broker::processorTime;
    }

    void run() throws IOException, InterruptedException {
        int d = plan.widths().get(0);
        BenchSite site = site(d);
        firstShape(d, site);
        if (!plan.quick()) {
            secondShape(d, site);
            for (int rows : FEW_ROWS_A_RECORD) {
                fewRows(d, rows, site);
            }
        }
        for (int other : plan.widths().subList(1, plan.widths().size())) {
            ActivationsTopic topic = fill(other, ROWS_A_RECORD, 1, 1);
            BenchSite otherSite = site(other);
            Map<String, Reader> readers = new LinkedHashMap<>();
            readers.put(MONITOR, monitor(otherSite, topic, Windows.LONG));
            if (plan.rivals()) {
                readers.put(CONSUMER, () -> ConsumerRun.rate(bootstrapServers, topic));
            }
            compare(topic, readers);
            if (!plan.quick()) {
                pauses().whileAssessing(otherSite, topic);
                if (plan.largeRefit() && other == RefitProcess.PYTHIA.d()) {
                    pauses().beside(RefitProcess.PYTHIA, otherSite, topic);
                }
            }
            topic.delete(bootstrapServers);
        }
        ratios(d);
    }

    private void firstShape(int d, BenchSite site) throws IOException, InterruptedException {
        ActivationsTopic topic = fill(d, ROWS_A_RECORD, 1, 1);
        ActivationsTopic two = fill(d, ROWS_A_RECORD, 2, 1);
        Map<String, Reader> readers = new LinkedHashMap<>();
        readers.put(MONITOR, monitor(site, topic, Windows.LONG));
        readers.put(ONE_CORE, () -> onOneCore(site, topic));
        List<Double> twoAlone = new ArrayList<>();
        readers.put(TWO, () -> {
            MonitorRun.Result result = monitorRun(site, two, Windows.LONG, 0);
            twoAlone.add(result.withoutBroker());
            return result.rowsPerSecond();
        });
        readers.put(HOPPING, monitor(site, topic, Windows.HOPPING));
        readers.put(TUMBLING, monitor(site, topic, Windows.TUMBLING));
        addRivals(readers, topic);
        if (plan.rivals() && !plan.quick()) {
            readers.put(AGGREGATE_OURS, () -> aggregate(topic, AggregateRun::ourKernel));
        }
        if (python && !plan.quick()) {
            readers.put(PYTHON_ALL, () -> python(topic, false));
        }
        compare(topic, readers);
        // The first run only warmed up.
        double[] counted = twoAlone.stream()
                .skip(twoAlone.size() - plan.rounds())
                .mapToDouble(Double::doubleValue)
                .toArray();
        findings.addTo(Measurement.of(title(topic), TWO_ALONE, ROWS_PER_SECOND, counted));
        two.delete(bootstrapServers);
        pauses().whileAssessing(site, topic);
        pauses().beside(plan.quick() ? RefitProcess.small(d) : RefitProcess.GPT2, site, topic);
        topic.delete(bootstrapServers);
    }

    private void secondShape(int d, BenchSite site) throws IOException, InterruptedException {
        ActivationsTopic topic = fill(d, MORE_ROWS_A_RECORD, 1, 1);
        Map<String, Reader> readers = new LinkedHashMap<>();
        readers.put(MONITOR, monitor(site, topic, Windows.LONG));
        addRivals(readers, topic);
        compare(topic, readers);
        topic.delete(bootstrapServers);
    }

    private void fewRows(int d, int rowsPerRecord, BenchSite site) throws IOException, InterruptedException {
        ActivationsTopic topic = fill(d, rowsPerRecord, 1, 1);
        Map<String, Reader> readers = new LinkedHashMap<>();
        readers.put(MONITOR, monitor(site, topic, Windows.LONG));
        if (plan.rivals()) {
            readers.put(CONSUMER, () -> ConsumerRun.rate(bootstrapServers, topic));
        }
        if (python) {
            readers.put(PYTHON, () -> python(topic, true));
        }
        compare(topic, readers);
        topic.delete(bootstrapServers);
    }

    private void addRivals(Map<String, Reader> readers, ActivationsTopic topic) {
        if (!plan.rivals()) {
            return;
        }
        readers.put(CONSUMER, () -> ConsumerRun.rate(bootstrapServers, topic));
        readers.put(AGGREGATE, () -> aggregate(topic, AggregateRun::plainLoops));
        if (python) {
            readers.put(PYTHON, () -> python(topic, true));
        }
    }

    private double aggregate(ActivationsTopic topic, AggregateRun.Sums sums) throws InterruptedException {
        String run = nextRun();
        return AggregateRun.rate(bootstrapServers, topic, root().resolve("state-" + run), run, sums, RIVAL_SECONDS);
    }

    private double python(ActivationsTopic topic, boolean oneThread) throws IOException, InterruptedException {
        return PythonRun.rate(bootstrapServers, topic, root(), oneThread, RIVAL_SECONDS);
    }

    String bootstrapServers() {
        return bootstrapServers;
    }

    Reader monitor(BenchSite site, ActivationsTopic topic, Windows windows) {
        return () -> monitorRun(site, topic, windows, 0).rowsPerSecond();
    }

    private double onOneCore(BenchSite site, ActivationsTopic topic) throws IOException, InterruptedException {
        System.setProperty(Cores.PROPERTY, "1");
        try {
            return monitor(site, topic, Windows.LONG).rowsPerSecond();
        } finally {
            System.clearProperty(Cores.PROPERTY);
        }
    }

    /** @param closing windows that are waited for after the last row */
    MonitorRun.Result monitorRun(BenchSite site, ActivationsTopic topic, Windows windows, long closing)
            throws IOException, InterruptedException {
        MonitorConfig config = site.config(bootstrapServers, topic, nextRun(), windows);
        return MonitorRun.of(config, site.sites(config), topic.rows(), closing, brokerTime);
    }

    private PauseBench pauses() {
        return new PauseBench(this, findings, root());
    }

    private void compare(ActivationsTopic topic, Map<String, Reader> readers) throws IOException, InterruptedException {
        warmUp(topic, readers);
        List<String> names = List.copyOf(readers.keySet());
        double[][] rates = new double[names.size()][plan.rounds()];
        for (int round = 0; round < plan.rounds(); round++) {
            int reader = 0;
            for (Reader one : readers.values()) {
                findings.next(
                        "%s: %s, round %d of %d".formatted(title(topic), names.get(reader), round + 1, plan.rounds()));
                rates[reader++][round] = one.rowsPerSecond();
            }
        }
        List<Measurement> variants = new ArrayList<>();
        for (int reader = 0; reader < rates.length; reader++) {
            variants.add(Measurement.of(title(topic), names.get(reader), ROWS_PER_SECOND, rates[reader]));
        }
        findings.add(variants);
    }

    /**
     * Runs each reader once before it counts: in the first seconds of a process the compiler takes half of the
     * processor, and who comes first would pay for all who do the same after it.
     */
    private void warmUp(ActivationsTopic topic, Map<String, Reader> readers) throws IOException, InterruptedException {
        for (Map.Entry<String, Reader> reader : readers.entrySet()) {
            if (!plan.quick() && !reader.getKey().startsWith(PYTHON_PROGRAM) && warm.add(reader.getKey())) {
                findings.next("%s: %s, warming up".formatted(title(topic), reader.getKey()));
                double unused = reader.getValue().rowsPerSecond();
            }
        }
    }

    private static String title(ActivationsTopic topic) {
        return title(topic.d(), topic.rowsPerRecord());
    }

    private static String title(int d, int rowsPerRecord) {
        return "pipeline, d = %,d, %d rows a record".formatted(d, rowsPerRecord);
    }

    private void ratios(int d) {
        String first = title(d, ROWS_A_RECORD);
        String second = title(d, MORE_ROWS_A_RECORD);
        againstRival(first, second, CONSUMER, "pipeline, beside a bare consumer");
        againstRival(first, second, AGGREGATE, "pipeline, beside the DSL aggregate");
        againstRival(first, second, PYTHON, "pipeline, beside a Python consumer of one thread");
        againstRival(first, second, PYTHON_ALL, "pipeline, beside a Python consumer on all cores");
        for (int rows : FEW_ROWS_A_RECORD) {
            findings.leastOf(
                    "pipeline, %d rows a record, beside a bare consumer".formatted(rows),
                    List.of(findings.ahead(title(d, rows), CONSUMER)));
        }
        ratio(first, "two partitions and threads, beside one that sums its rows itself", TWO, ONE_CORE);
        ratio(
                first,
                "two partitions and threads, the broker's processor time taken out, beside the same",
                TWO_ALONE,
                ONE_CORE);
        ratio(first, "hopping over 12 panes, beside tumbling with as many reports", HOPPING, TUMBLING);
    }

    private void againstRival(String first, String second, String rival, String what) {
        findings.leastOf(what, List.of(findings.ahead(first, rival), findings.ahead(second, rival)));
    }

    /** Adds the ratio of two monitors, the first over the second. */
    private void ratio(String shape, String what, String reader, String other) {
        OptionalDouble ahead = findings.ahead(shape, reader);
        OptionalDouble aheadOfOther = findings.ahead(shape, other);
        if (ahead.isPresent() && aheadOfOther.isPresent()) {
            findings.ratios.add(new Ratio(what, aheadOfOther.getAsDouble() / ahead.getAsDouble()));
        }
    }

    ActivationsTopic fill(int d, int rowsPerRecord, int partitions, int sites)
            throws IOException, InterruptedException {
        findings.next("%s: filling a topic of %d partitions".formatted(title(d, rowsPerRecord), partitions));
        return ActivationsTopic.fill(bootstrapServers, d, rowsPerRecord, partitions, sites, plan.rowsOfWidth(d));
    }

    BenchSite site(int d) throws IOException {
        findings.next("an explainer and a baseline of width %,d".formatted(d));
        return BenchSite.write(Files.createDirectories(root().resolve("site-" + d)), d);
    }

    String nextRun() {
        return "bench-" + runs++;
    }

    Path root() {
        TemporaryFolder temporary = folder;
        if (temporary == null) {
            throw new IllegalStateException("not started");
        }
        return temporary.root();
    }

    private synchronized <T extends AutoCloseable> T own(T closeable) {
        started.push(closeable);
        return closeable;
    }

    @Override
    public synchronized void close() {
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                findings.notes.add("while cleaning up: " + e.getMessage());
            }
        }
    }
}
