package io.plumbline.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.demo.Traffic.Stretch;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.judgement.Verdict;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/**
 * Plays English traffic, then German, then English again, through a real broker and both applications, at the pace of
 * the windows: the first requests of a window are sent, which closes the one before; its report is awaited; where it
 * asks for an adaptation, the answer is awaited too.
 *
 * <p>Everything is stopped and removed when it is closed, whatever happened.
 */
public final class Demo extends Stage {

    static final String ENGLISH = "English";
    static final String GERMAN = "German";

    private static final String SITE = "encoder.layer.2";
    private static final int PARTITIONS = 2;
    private static final int ROWS_PER_WINDOW = 2048;
    private static final int ENGLISH_WINDOWS_FIRST = 2;
    private static final int REQUESTS_THAT_CLOSE = PARTITIONS;

    private final Consumer<URI> onPage;
    private final Story story = new Story();

    /**
     * @param seconds after which it gives up
     * @param onPage told the address of the page as soon as it is there
     */
    public Demo(PrintWriter out, long seconds, Consumer<URI> onPage) {
        super(out, seconds);
        this.onPage = onPage;
    }

    @Override
    public Result run() throws IOException, InterruptedException {
        say("starting a Kafka broker, the monitor, the adapter and a subscriber (nothing leaves this machine)");
        DemoFolder folder = own(DemoFolder.unpack());
        int port = EmbeddedBroker.freePort();
        MonitorConfig config = MonitorConfig.parse(
                DemoFolder.configuration(folder.root(), EmbeddedBroker.address(port)), "demo.yaml", folder.root());
        // Side by side: either is one thread for most of its time.
        FutureTask<Map<String, WatchedSite>> reading =
                new FutureTask<>(() -> WatchedSite.readAll(config.sites().values()));
        start(reading);
        EmbeddedBroker broker = own(EmbeddedBroker.start(folder.broker(), port, Map.of()));
        mayBeInterrupted();
        String bootstrapServers = broker.bootstrapServers();
        String activations = config.topics().activations();
        createTopic(bootstrapServers, activations, PARTITIONS);
        PlumblineRuntime runtime = own(PlumblineRuntime.start(config, reading, Role.ALL));
        subscribe(config, SITE, Objects.requireNonNull(read(reading).get(SITE)).explainer());
        Reports windows = own(new Reports(bootstrapServers, config.topics().windowReports()));
        Reports adaptations = own(new Reports(bootstrapServers, config.topics().adaptationReports()));
        Traffic traffic = own(new Traffic(bootstrapServers, activations, PARTITIONS, SITE));
        ActivationFile english = own(ActivationFile.open(folder.root().resolve("english.safetensors")));
        ActivationFile german = own(ActivationFile.open(folder.root().resolve("german.safetensors")));
        String address = "http://%s:%d/"
                .formatted(
                        runtime.httpAddress().getHostString(),
                        runtime.httpAddress().getPort());
        say("console at " + address);
        say("metrics at " + address + "metrics");
        onPage.accept(URI.create(address));
        play(
                itinerary(english, german),
                traffic,
                windows,
                adaptations,
                config.window().paneMs());
        out.println();
        out.println(story.summary());
        return new Result(story.missing(), runtime.httpAddress(), bootstrapServers);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "demo-sites");
        thread.setDaemon(true);
        thread.start();
    }

    private static <T> T read(FutureTask<T> task) throws InterruptedException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the site of the demonstration cannot be read", e.getCause());
        }
    }

    /**
     * Returns what is sent, a window each. The last stretch comes twice: its second window closes the first and stays
     * open.
     */
    static List<Stretch> itinerary(ActivationFile english, ActivationFile german) {
        List<Stretch> inEnglish = Traffic.cut(ENGLISH, english, ROWS_PER_WINDOW);
        List<Stretch> stretches = new ArrayList<>(inEnglish.subList(0, ENGLISH_WINDOWS_FIRST));
        stretches.addAll(Traffic.cut(GERMAN, german, ROWS_PER_WINDOW));
        stretches.addAll(inEnglish.subList(ENGLISH_WINDOWS_FIRST, inEnglish.size()));
        stretches.add(stretches.get(stretches.size() - 1));
        return stretches;
    }

    private void play(List<Stretch> stretches, Traffic traffic, Reports windows, Reports adaptations, long windowMs)
            throws IOException, InterruptedException {
        out.printf(
                "%n%-7s %-8s %6s %6s %10s %7s %12s %12s %-9s %s%n",
                "window",
                "traffic",
                "rows",
                "gap",
                "threshold",
                "bound",
                "FVU trained",
                "FVU active",
                "verdict",
                "decoder");
        long firstStartMs = System.currentTimeMillis() / windowMs * windowMs - stretches.size() * windowMs;
        for (int i = 0; i < stretches.size(); i++) {
            Stretch stretch = stretches.get(i);
            long startMs = firstStartMs + i * windowMs;
            traffic.send(stretch, 0, REQUESTS_THAT_CLOSE, startMs, windowMs);
            if (i > 0) {
                follow(i, stretches.get(i - 1), windows.next(deadlineNanos), adaptations);
            }
            // Also of the window that stays open: a page that is left up shows it once the site counts as silent.
            traffic.send(stretch, REQUESTS_THAT_CLOSE, stretch.to() - stretch.from(), startMs, windowMs);
        }
    }

    private void follow(int number, Stretch stretch, JsonNode report, Reports adaptations)
            throws IOException, InterruptedException {
        int version = report.get("decoder_version").asInt();
        out.printf(
                Locale.ROOT,
                "%-7d %-8s %6d %6.3f %10.3f %7.3f %12.3f %12.3f %-9s %s%n",
                number,
                stretch.language(),
                report.get("rows").asInt(),
                report.get("faithfulness_gap").asDouble(),
                report.get("threshold").asDouble(),
                report.get("gap_upper_bound").asDouble(),
                report.get("reconstruction_fvu_trained").asDouble(),
                report.get("reconstruction_fvu").asDouble(),
                report.get("verdict").asText(),
                version == 0 ? "trained" : "v" + version);
        out.flush();
        boolean wasAdapted = story.swaps() == 1;
        story.window(stretch.language(), report);
        if (report.get("adaptation_requested").asBoolean()) {
            if (!wasAdapted) {
                say("  fitting a decoder to this window and judging it on requests it was not fitted on");
            }
            answered(adaptations.next(deadlineNanos), wasAdapted);
        } else if (wasAdapted && report.get("verdict").asText().equals(Verdict.ALIGNED.label())) {
            story.revert(adaptations.next(deadlineNanos));
            awaitSwap();
        }
    }

    /** Tells an answer; rows that are only pooled are no news once a decoder was published. */
    private void answered(JsonNode answer, boolean wasAdapted) throws InterruptedException {
        String outcome = answer.get("outcome").asText();
        boolean pooled = outcome.equals("pooled");
        if (pooled && wasAdapted) {
            return;
        }
        if (!pooled) {
            story.adaptation(answer);
        }
        say(String.format(
                Locale.ROOT,
                "  %s in %.1f s: %s",
                outcome,
                answer.get("seconds").asDouble(),
                answer.get("reason").asText()));
        if (outcome.equals(Outcome.PUBLISHED.label())) {
            awaitSwap();
        }
    }

    private void awaitSwap() throws InterruptedException {
        PublishedDecoder swapped = nextSwap();
        story.swap(swapped.manifest().kind().label());
    }
}
