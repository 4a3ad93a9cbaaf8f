package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchSite.Size;
import io.plumbline.benchmarks.BenchSite.Windows;
import io.plumbline.benchmarks.operators.Figures;
import io.plumbline.benchmarks.operators.Figures.Unit;
import io.plumbline.parallel.Cores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Runs the monitor reading a topic, and others reading the same one: they take turns, round after round. */
final class PipelineBench {

    private static final String MONITOR = "plumbline monitor";
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

    private static final int ROWS_A_RECORD = 64;
    private static final int MORE_ROWS_A_RECORD = 256;

    /** The rows in a record of a server that keeps the last token, or a few: there the price of a record rules. */
    private static final List<Integer> FEW_ROWS_A_RECORD = List.of(1, 8);

    /** The number of windows of a second that a topic closes: all but its last. */
    private static final long WINDOWS = ActivationsTopic.EVENT_SECONDS - 1;

    private final BenchPlan plan;
    private final Bench bench;
    private final Figures figures;
    private final boolean python;

    /** Readers in this process that have run before. */
    private final Set<String> warm = new HashSet<>();

    PipelineBench(BenchPlan plan, Bench bench, Figures figures) throws InterruptedException {
        this.plan = plan;
        this.bench = bench;
        this.figures = figures;
        String missing = plan.rivals() ? Rivals.missingPython() : null;
        if (missing != null) {
            figures.note(missing);
        }
        this.python = plan.rivals() && missing == null;
    }

    /** One reader of a topic. */
    @FunctionalInterface
    private interface Reader {
        double rowsPerSecond() throws IOException, InterruptedException;
    }

    void run() throws IOException, InterruptedException {
        int d = plan.widths().get(0);
        BenchSite site = site(d);
        firstShape(d, site);
        if (!plan.quick()) {
            ActivationsTopic more = fill(d, MORE_ROWS_A_RECORD, 1);
            compare(more, withRivals(site, more));
            bench.deleteTopic(more.name());
            for (int rows : FEW_ROWS_A_RECORD) {
                ActivationsTopic few = fill(d, rows, 1);
                compare(few, withConsumer(site, few));
                bench.deleteTopic(few.name());
            }
        }
        for (int other : plan.widths().subList(1, plan.widths().size())) {
            ActivationsTopic topic = fill(other, ROWS_A_RECORD, 1);
            BenchSite otherSite = site(other);
            compare(topic, withConsumer(otherSite, topic));
            if (!plan.quick()) {
                stalls(otherSite, topic, null);
                if (plan.largeRefit() && other == Size.PYTHIA.d()) {
                    stalls(otherSite, topic, new RefitProcess(Size.PYTHIA, 2_048, "12g"));
                }
            }
            bench.deleteTopic(topic.name());
        }
    }

    /** Measures several sites of one width that share a topic, with windows that close and without. */
    void many(int sites) throws IOException, InterruptedException {
        int d = plan.widths().get(0);
        BenchSite site = site(d);
        bench.next("filling a topic for %d sites".formatted(sites));
        ActivationsTopic topic =
                ActivationsTopic.fill(bench, plan.type(), d, ROWS_A_RECORD, 1, plan.topicRows(), sites);
        Map<String, double[]> rates = new LinkedHashMap<>();
        double[] seconds = new double[plan.rounds()];
        double[] heap = new double[plan.rounds()];
        for (int round = 0; round < plan.rounds(); round++) {
            bench.next("%d sites, round %d of %d".formatted(sites, round + 1, plan.rounds()));
            rates.computeIfAbsent(MONITOR, unused -> new double[plan.rounds()])[round] =
                    MonitorRun.of(bench, site, topic, Windows.LONG, 0).rowsPerSecond();
            MonitorRun.Result closing = MonitorRun.of(bench, site, topic, Windows.HALVES, sites);
            rates.computeIfAbsent(MONITOR + ", a window of each site closes", unused -> new double[plan.rounds()])[
                            round] =
                    topic.rows() / closing.seconds();
            seconds[round] = closing.seconds();
            heap[round] = closing.heapMegabytes();
        }
        String what = "%d sites, d = %,d, %d rows a record".formatted(sites, d, ROWS_A_RECORD);
        figures.add(what, Unit.ROWS_PER_SECOND, rates);
        figures.add(what, Unit.SECONDS, Map.of("all rows summed, one window of each site assessed", seconds));
        figures.add(what, Unit.MEGABYTES, Map.of("heap after a collection", heap));
    }

    private void firstShape(int d, BenchSite site) throws IOException, InterruptedException {
        ActivationsTopic topic = fill(d, ROWS_A_RECORD, 1);
        ActivationsTopic two = fill(d, ROWS_A_RECORD, 2);
        Map<String, Reader> readers = withRivals(site, topic);
        readers.put(ONE_CORE, () -> onOneCore(site, topic));
        List<Double> twoAlone = new ArrayList<>();
        readers.put(TWO, () -> {
            MonitorRun.Result result = MonitorRun.of(bench, site, two, Windows.LONG, 0);
            twoAlone.add(result.withoutBroker());
            return result.rowsPerSecond();
        });
        readers.put(HOPPING, monitor(site, topic, Windows.HOPPING));
        readers.put(TUMBLING, monitor(site, topic, Windows.TUMBLING));
        if (plan.rivals() && !plan.quick()) {
            readers.put(AGGREGATE_OURS, () -> new Rivals(bench, topic).aggregate(Rivals::ourKernel));
        }
        if (python && !plan.quick()) {
            readers.put(PYTHON_ALL, () -> new Rivals(bench, topic).python(false));
        }
        Map<String, double[]> rates = compare(topic, readers);
        // The first run only warmed up.
        rates.put(
                TWO_ALONE,
                twoAlone.stream()
                        .skip(twoAlone.size() - plan.rounds())
                        .mapToDouble(Double::doubleValue)
                        .toArray());
        pair("two partitions and threads, beside one", rates, TWO_ALONE, ONE_CORE);
        pair("hopping, beside tumbling with as many reports", rates, HOPPING, TUMBLING);
        bench.deleteTopic(two.name());
        stalls(site, topic, null);
        stalls(
                site,
                topic,
                plan.quick()
                        ? new RefitProcess(new Size(d, 4 * d, Math.min(4, d)), 512, "1g")
                        : new RefitProcess(Size.GPT2, 2_048, "3g"));
        bench.deleteTopic(topic.name());
    }

    private Map<String, Reader> withConsumer(BenchSite site, ActivationsTopic topic) {
        Map<String, Reader> readers = new LinkedHashMap<>();
        readers.put(MONITOR, monitor(site, topic, Windows.LONG));
        if (plan.rivals()) {
            readers.put(CONSUMER, () -> new Rivals(bench, topic).consumer());
        }
        return readers;
    }

    private Map<String, Reader> withRivals(BenchSite site, ActivationsTopic topic) {
        Map<String, Reader> readers = withConsumer(site, topic);
        if (plan.rivals()) {
            readers.put(AGGREGATE, () -> new Rivals(bench, topic).aggregate(Rivals::plainLoops));
        }
        if (python) {
            readers.put(PYTHON, () -> new Rivals(bench, topic).python(true));
        }
        return readers;
    }

    private Reader monitor(BenchSite site, ActivationsTopic topic, Windows windows) {
        return () -> MonitorRun.of(bench, site, topic, windows, 0).rowsPerSecond();
    }

    private double onOneCore(BenchSite site, ActivationsTopic topic) throws IOException, InterruptedException {
        System.setProperty(Cores.PROPERTY, "1");
        try {
            return monitor(site, topic, Windows.LONG).rowsPerSecond();
        } finally {
            System.clearProperty(Cores.PROPERTY);
        }
    }

    private Map<String, double[]> compare(ActivationsTopic topic, Map<String, Reader> readers)
            throws IOException, InterruptedException {
        warmUp(topic, readers);
        Map<String, double[]> rates = new LinkedHashMap<>();
        for (int round = 0; round < plan.rounds(); round++) {
            for (Map.Entry<String, Reader> reader : readers.entrySet()) {
                bench.next("%s: %s, round %d of %d".formatted(title(topic), reader.getKey(), round + 1, plan.rounds()));
                rates.computeIfAbsent(reader.getKey(), unused -> new double[plan.rounds()])[round] =
                        reader.getValue().rowsPerSecond();
            }
        }
        figures.add(title(topic), Unit.ROWS_PER_SECOND, rates);
        return rates;
    }

    /**
     * Runs each reader once before it counts: in the first seconds of a process the compiler takes half of the
     * processor, and who comes first would pay for all who do the same after it.
     */
    private void warmUp(ActivationsTopic topic, Map<String, Reader> readers) throws IOException, InterruptedException {
        for (Map.Entry<String, Reader> reader : readers.entrySet()) {
            if (!plan.quick() && !reader.getKey().startsWith(PYTHON_PROGRAM) && warm.add(reader.getKey())) {
                bench.next("%s: %s, warming up".formatted(title(topic), reader.getKey()));
                double unused = reader.getValue().rowsPerSecond();
            }
        }
    }

    private void pair(String what, Map<String, double[]> rates, String first, String second) {
        Map<String, double[]> both = new LinkedHashMap<>();
        both.put(first, rates.get(first));
        both.put(second, rates.get(second));
        figures.add(what, Unit.ROWS_PER_SECOND, both);
    }

    /**
     * Measures for how long the monitor takes no records while it assesses windows: one a second of event time, as fast
     * as the topic can be read, which is many times as many as there would be.
     *
     * @param refit another process on the same cores
     */
    @SuppressWarnings("try") // the refits are held open, not used
    private void stalls(BenchSite site, ActivationsTopic topic, @Nullable RefitProcess refit)
            throws IOException, InterruptedException {
        String beside = refit == null ? "" : ", refits of %s beside".formatted(refit.size());
        String what = "stalls of ingestion, d = %,d, windows of 1 s%s".formatted(topic.d(), beside);
        bench.next(what);
        try (ChildProcess unused = refit == null ? null : refit.start(bench.folder("refits"))) {
            MonitorRun.Stalls stalls =
                    MonitorRun.of(bench, site, topic, Windows.TUMBLING, WINDOWS).stalls();
            Map<String, double[]> measured = new LinkedHashMap<>();
            measured.put("99th percentile", new double[] {stalls.ninetyNinth()});
            measured.put("longest", new double[] {stalls.longest()});
            figures.add(what, Unit.MILLISECONDS, measured);
        }
    }

    private static String title(ActivationsTopic topic) {
        return "pipeline, d = %,d, %d rows a record".formatted(topic.d(), topic.rowsPerRecord());
    }

    private ActivationsTopic fill(int d, int rowsPerRecord, int partitions) throws IOException, InterruptedException {
        long rows = plan.topicRows() * plan.widths().get(0) / d;
        return ActivationsTopic.fill(bench, plan.type(), d, rowsPerRecord, partitions, rows, 1);
    }

    private BenchSite site(int d) throws IOException {
        bench.next("an explainer and a baseline of width %,d".formatted(d));
        return BenchSite.watched(bench.folder("site-" + d), d);
    }
}
