package io.plumbline.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.adaptation.Behaviour;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadLimits;
import io.plumbline.causal.heads.KlJudge;
import io.plumbline.causal.heads.Metric;
import io.plumbline.causal.heads.OnnxHead;
import io.plumbline.causal.heads.RequestBootstrap;
import io.plumbline.causal.heads.RequestFile;
import io.plumbline.causal.heads.SiteStudy;
import io.plumbline.demo.Traffic.Stretch;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.judgement.Verdict;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.operate.Plumbline;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * Runs a language model and its monitor: English text, then another, then English again. Its hidden states go through a
 * real broker and both applications; in the end it says what it would say next, as it is, through the trained explainer
 * and through the adapted one.
 */
public final class LiveDemo extends Stage {

    private static final String SITE = "blocks.3";
    private static final String ENGLISH = "english";
    private static final int PARTITIONS = 2;
    private static final int RANK = 32;
    private static final int REQUESTS_PER_WINDOW = 24;
    private static final int FEWEST_REQUESTS = 18;
    private static final int MOST_WINDOWS = 3;
    private static final int ENGLISH_WINDOWS_FIRST = 2;
    private static final int TOKENS_SHOWN = 32;

    private final Asked asked;
    private @Nullable Decoder adapted;
    private boolean drifted;
    private boolean nearer;
    private boolean reverted;

    /**
     * The choices of a user.
     *
     * @param model a folder with a model of one's own, or null
     * @param texts what comes in the place of the Spanish text, or none
     * @param sentence whose next tokens are shown, or null
     */
    public record Asked(
            @Nullable Path model,
            List<Path> texts,
            @Nullable String sentence) {}

    /** One window's worth of a text. */
    record Passage(String name, boolean normal, List<long[]> requests) {}

    /** @param seconds after which it gives up */
    public LiveDemo(PrintWriter out, long seconds, Asked asked) {
        super(out, seconds);
        this.asked = asked;
    }

    @Override
    public Result run() throws Exception {
        LiveFolder folder = own(LiveFolder.open(asked.model()));
        LanguageModel model = own(LanguageModel.open(folder.body(), folder.tokenizer()));
        OnnxHead head = own(OnnxHead.open(new HeadLocation.InFile(folder.head()), HeadLimits.DEFAULTS));
        Explainer explainer = Formats.read(folder.explainer());
        List<Passage> passages = itinerary(folder, model);
        say("a language model reads English for the baseline, then %s (nothing leaves this machine)"
                .formatted(passages.get(ENGLISH_WINDOWS_FIRST).name()));
        baseline(folder, model);
        EmbeddedBroker broker = own(EmbeddedBroker.start(folder.root().resolve("broker")));
        mayBeInterrupted();
        String servers = broker.bootstrapServers();
        MonitorConfig config =
                MonitorConfig.parse(folder.configuration(servers, model.firstToken()), "live.yaml", folder.root());
        createTopic(servers, config.topics().activations(), PARTITIONS);
        PlumblineRuntime runtime = own(PlumblineRuntime.start(config, Role.ALL));
        subscribe(config, SITE, explainer);
        Reports windows = own(new Reports(servers, config.topics().windowReports()));
        Reports adaptations = own(new Reports(servers, config.topics().adaptationReports()));
        Traffic traffic = own(new Traffic(servers, config.topics().activations(), PARTITIONS, SITE));
        say("console at http://%s:%d/"
                .formatted(
                        runtime.httpAddress().getHostString(),
                        runtime.httpAddress().getPort()));
        List<Path> dumps = play(
                passages,
                folder,
                model,
                new Line(traffic, windows, adaptations),
                config.window().paneMs());
        tell(explainer, head, model, passages, dumps);
        return new Result(missing(), runtime.httpAddress(), servers);
    }

    /**
     * Returns what is sent, a window each: English, the other texts, English. The last comes twice: its second window
     * closes the first and stays open.
     */
    private List<Passage> itinerary(LiveFolder folder, LanguageModel model) throws IOException {
        List<Passage> english = passages(ENGLISH, true, Files.readString(folder.text(ENGLISH)), model);
        List<Passage> all = new ArrayList<>(english.subList(0, ENGLISH_WINDOWS_FIRST));
        List<Path> texts = asked.texts().isEmpty() ? List.of(folder.text("spanish")) : asked.texts();
        for (Path text : texts) {
            String name = String.valueOf(text.getFileName()).replaceFirst("\\.[^.]*$", "");
            all.addAll(passages(name, false, Files.readString(text), model));
        }
        all.add(english.get(ENGLISH_WINDOWS_FIRST));
        all.add(english.get(ENGLISH_WINDOWS_FIRST));
        return all;
    }

    /** Cuts a text into windows: at least two, one to fit a decoder to and one to measure it on. */
    static List<Passage> passages(String name, boolean normal, String text, LanguageModel model) {
        List<long[]> requests = model.requests(text);
        if (requests.size() < 2 * FEWEST_REQUESTS) {
            throw new UsageException("text %s: %d requests of %d tokens, expected at least %d, some 15 KB of text"
                    .formatted(name, requests.size(), LanguageModel.TOKENS_PER_REQUEST, 2 * FEWEST_REQUESTS));
        }
        int size = Math.min(REQUESTS_PER_WINDOW, requests.size() / 2);
        List<Passage> passages = new ArrayList<>();
        for (int from = 0; from + size <= requests.size() && passages.size() < MOST_WINDOWS; from += size) {
            passages.add(new Passage(name, normal, requests.subList(from, from + size)));
        }
        return passages;
    }

    /** Makes the baseline as a user does. */
    private static void baseline(LiveFolder folder, LanguageModel model) throws IOException {
        Path normal = folder.root().resolve("normal.safetensors");
        model.record(model.requests(Files.readString(folder.text("normal"))), normal);
        CommandLine program = Plumbline.commandLine();
        StringWriter printed = new StringWriter();
        program.setOut(new PrintWriter(printed));
        program.setErr(new PrintWriter(printed));
        int exit = program.execute(
                "baseline",
                "--explainer",
                folder.explainer().toString(),
                "--activations",
                normal.toString(),
                "--rank",
                Integer.toString(RANK),
                "--mask-token-id",
                Long.toString(model.firstToken()),
                "--out",
                folder.root().resolve("baseline.safetensors").toString());
        if (exit != ExitCodes.FINE) {
            throw new IllegalStateException("the baseline could not be made: " + printed);
        }
    }

    /** Returns the dump of each window. */
    private List<Path> play(List<Passage> passages, LiveFolder folder, LanguageModel model, Line line, long windowMs)
            throws IOException, InterruptedException {
        out.printf(
                "%n%-7s %-12s %6s %6s %10s %12s %12s %-9s %s%n",
                "window", "text", "rows", "gap", "threshold", "FVU trained", "FVU active", "verdict", "decoder");
        List<Path> dumps = new ArrayList<>();
        long firstStartMs = System.currentTimeMillis() / windowMs * windowMs - passages.size() * windowMs;
        for (int i = 0; i < passages.size(); i++) {
            Passage passage = passages.get(i);
            Path dump = folder.root().resolve("window-%d.safetensors".formatted(i));
            model.record(passage.requests(), dump);
            dumps.add(dump);
            int requests = passage.requests().size();
            long startMs = firstStartMs + i * windowMs;
            try (ActivationFile rows = ActivationFile.open(dump)) {
                Stretch stretch = new Stretch(passage.name(), rows, 0, requests);
                line.traffic().send(stretch, 0, PARTITIONS, startMs, windowMs);
                if (i > 0) {
                    follow(i, passages.get(i - 1), line);
                }
                line.traffic().send(stretch, PARTITIONS, requests, startMs, windowMs);
            }
        }
        return dumps;
    }

    private void follow(int number, Passage passage, Line line) throws IOException, InterruptedException {
        JsonNode report = line.windows().next(deadlineNanos);
        int version = report.get("decoder_version").asInt();
        out.printf(
                Locale.ROOT,
                "%-7d %-12s %6d %6.3f %10.3f %12.3f %12.3f %-9s %s%n",
                number,
                passage.name(),
                report.get("rows").asInt(),
                report.get("faithfulness_gap").asDouble(),
                report.get("threshold").asDouble(),
                report.get("reconstruction_fvu_trained").asDouble(),
                report.get("reconstruction_fvu").asDouble(),
                report.get("verdict").asText(),
                version == 0 ? "trained" : "v" + version);
        out.flush();
        drifted |= !passage.normal() && report.get("verdict").asText().equals(Verdict.DRIFTED.label());
        if (report.get("adaptation_requested").asBoolean()) {
            answered(line.adaptations().next(deadlineNanos));
        } else if (adapted != null && report.get("verdict").asText().equals(Verdict.ALIGNED.label())) {
            line.adaptations().next(deadlineNanos);
            nextSwap();
            reverted = true;
        }
    }

    private void answered(JsonNode answer) throws InterruptedException {
        String outcome = answer.get("outcome").asText();
        if (outcome.equals("pooled") && adapted != null) {
            return;
        }
        say(String.format(
                Locale.ROOT,
                "  %s in %.1f s: %s",
                outcome,
                answer.get("seconds").asDouble(),
                answer.get("reason").asText()));
        if (outcome.equals(Outcome.PUBLISHED.label())) {
            adapted = nextSwap().decoder();
        }
    }

    /**
     * Tells what the model does with either decoder, on the last window of the other text, which came after the swap.
     */
    private void tell(Explainer explainer, OnnxHead head, LanguageModel model, List<Passage> passages, List<Path> dumps)
            throws IOException {
        int last = passages.size() - 3;
        Decoder after = adapted;
        if (after == null) {
            return;
        }
        try (RequestFile later = RequestFile.open(dumps.get(last), explainer)) {
            Behaviour found = new KlJudge(explainer, head, later, null, null, DownstreamSettings.DEFAULT_MAXIMUM_GROWTH)
                    .judge(explainer.decoder(), explainer.decoder(), after);
            out.printf(
                    "%nWhat the model does on the last window of %s: %s%n",
                    passages.get(last).name(), found.test().finding());
            nearer = found.test().passed();
            agreements(explainer, head, later, after);
        }
        List<long[]> requests = passages.get(last).requests();
        long[] tokens = asked.sentence() == null
                ? Arrays.copyOfRange(requests.get(requests.size() - 1), 0, TOKENS_SHOWN + 1)
                : model.request(model.tokenizer().encode(asked.sentence()));
        NextTokens.of(explainer, head, model, after, tokens).print(out);
        out.flush();
    }

    /** Prints how often the most likely next token is the model's own, over all rows of a window. */
    private void agreements(Explainer explainer, OnnxHead head, RequestFile later, Decoder after) {
        Map<String, Decoder> decoders = new LinkedHashMap<>();
        decoders.put("trained", explainer.decoder());
        decoders.put("adapted", after);
        new SiteStudy(explainer, head, null)
                .run(later, decoders, rows -> {})
                .forEach((name, found) -> out.printf(
                        Locale.ROOT,
                        "%s explainer: the model's own next token is the most likely one after %.1f %% of %d tokens%n",
                        name,
                        100.0
                                * Metric.TOP1_AGREEMENT.of(RequestBootstrap.of(found.stream()
                                                .map(SiteStudy.Found::sums)
                                                .toList())
                                        .whole()),
                        later.rows() - later.count()));
    }

    private List<String> missing() {
        List<String> missing = new ArrayList<>();
        if (!drifted) {
            missing.add("no window of the other text was drifted");
        }
        if (adapted == null) {
            missing.add("no decoder was published");
        } else if (!nearer) {
            missing.add("with the adapted decoder the model is not nearer to itself");
        } else if (!reverted) {
            missing.add("the trained decoder did not return with English");
        }
        return missing;
    }

    /** The two ends of a pipeline: traffic goes into one, and reports come out of the other. */
    private record Line(Traffic traffic, Reports windows, Reports adaptations) {}
}
