package io.plumbline.causal.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.causal.heads.Attribution;
import io.plumbline.causal.heads.DecoderFile;
import io.plumbline.causal.heads.FeatureRanking;
import io.plumbline.causal.heads.HeadException;
import io.plumbline.causal.heads.OpenHead;
import io.plumbline.causal.heads.Profile;
import io.plumbline.causal.heads.RequestStudy;
import io.plumbline.causal.heads.SiteStudy;
import io.plumbline.causal.heads.SiteStudy.Ablating;
import io.plumbline.causal.heads.SiteStudy.Found;
import io.plumbline.causal.heads.Unembedding;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Amounts;
import io.plumbline.topology.assessment.Explainers;
import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.ExplainerFacts;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline causal}: what the model does with the explainer's account in place, from files. */
@Command(
        name = "causal",
        mixinStandardHelpOptions = true,
        description = {
            "Runs the rest of a model on whole requests, with the explainer's reconstruction in place of the "
                    + "activations, and"
                    + " measures what that does to the model's output: Delta CE, KL, top-1 agreement, loss recovered, "
                    + "nAOPC, nComp.",
            "",
            "The first row of a request is never replaced and never counted. Intervals are of 95 %%, "
                    + "by a bootstrap over requests;"
                    + " with --decoder, those of the change are paired."
        },
        footer = {
            "  plumbline causal --explainer sae/ --head head.onnx --activations requests.safetensors --decoder "
                    + "adapted/",
            "As SAELens names the figures, without ablations, which is quicker:",
            "  plumbline causal ... --profile saelens --json | jq .trained.kl_div_with_sae",
            "Which tokens the features of request 20 speak for:",
            "  plumbline causal ... --dla --unembedding unembedding.safetensors --request 20"
        })
public final class CausalCommand implements AddedCommand {

    private static final String TRAINED = "trained";
    private static final String ADAPTED = "adapted";

    @Mixin
    ExplainerFacts.Place explainer;

    @Mixin
    HeadOptions head = new HeadOptions();

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description =
                    "Dumps of whole requests with request_offsets and token_ids, for a transcoder also targets and"
                            + " residual. Several are one.")
    List<Path> activations;

    @Option(
            names = "--decoder",
            paramLabel = "PATH",
            description = "A decoder to compare with the trained one: a folder that adapt wrote, "
                    + "or a file with W_dec and b_dec.")
    @Nullable
    Path decoder;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            defaultValue = "gae-paper",
            description = "Whose definitions: gae-paper, gae-code, saelens or saebench. Default: ${DEFAULT-VALUE}.")
    String profile;

    @Option(
            names = "--ranking",
            paramLabel = "NAME",
            defaultValue = "causal",
            description =
                    "In which order nAOPC and nComp remove features: causal, by the logit's drop without that one, "
                            + "or dla, by"
                            + " direct logit attribution, which needs --unembedding. Default: ${DEFAULT-VALUE}.")
    String ranking;

    @Option(
            names = "--unembedding",
            paramLabel = "FILE",
            description = "A safetensors file with the model's unembedding [V, d].")
    @Nullable
    Path unembedding;

    @Option(names = "--most-requests", paramLabel = "N", description = "Take the first N requests. Default: all.")
    int most = Integer.MAX_VALUE;

    @Option(
            names = "--dla",
            description = "Instead, print the direct logit attribution of one request's features to tokens; "
                    + "needs --unembedding.")
    boolean dla;

    @Option(
            names = "--request",
            paramLabel = "I",
            defaultValue = "0",
            description = "Which request --dla looks at, from 0. Default: ${DEFAULT-VALUE}.")
    int request;

    @Option(
            names = "--features",
            paramLabel = "N",
            defaultValue = "3",
            description =
                    "How many features --dla lists: those of the largest causal effect with the decoder compared. "
                            + "Default: ${DEFAULT-VALUE}.")
    int features;

    @Option(
            names = "--class-tokens",
            split = ",",
            paramLabel = "ID",
            description = "Tokens of the target's class. Default: the 20 nearest to the target in the unembedding, "
                    + "by cosine.")
    List<Integer> classTokens = List.of();

    @Option(
            names = "--control-tokens",
            split = ",",
            paramLabel = "ID",
            description = "Unrelated tokens. Default: the 10 whose cosine with the target is nearest to 0.")
    List<Integer> controlTokens = List.of();

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Profile definitions = named("--profile", profile, Profile.values());
        FeatureRanking order = named("--ranking", ranking, FeatureRanking.values());
        if (most < 1) {
            throw new UsageException("--most-requests = %d: expected 1 or more".formatted(most));
        }
        if (features < 1) {
            throw new UsageException("--features = %d: expected 1 or more".formatted(features));
        }
        if (!Files.exists(explainer.path())) {
            throw new UsageException("--explainer = %s: no such folder".formatted(explainer.path()));
        }
        Explainer trained = Explainers.read(explainer.path(), explainer.options());
        Unembedding tokens = unembedding(trained);
        if (tokens == null && (dla || (order == FeatureRanking.DLA && definitions.ablates()))) {
            throw new UsageException((dla ? "--dla" : "--ranking dla")
                    + " needs --unembedding: a safetensors file with the model's unembedding [V, d]");
        }
        Map<String, Decoder> decoders = new LinkedHashMap<>();
        decoders.put(TRAINED, trained.decoder());
        if (decoder != null) {
            decoders.put(ADAPTED, read(decoder, trained));
        }
        try (RequestFiles requests = RequestFiles.open("--activations", activations, trained, most);
                OpenHead opened = head.open(trained)) {
            if (dla && tokens != null) {
                attribute(trained, opened, requests, decoders, tokens);
            } else {
                measure(
                        trained,
                        opened,
                        requests,
                        decoders,
                        definitions,
                        definitions.ablates() ? new Ablating(order, tokens, Integer.MAX_VALUE) : null);
            }
            return ExitCodes.FINE;
        } catch (HeadException failed) {
            throw HeadOptions.explained(failed);
        }
    }

    private void measure(
            Explainer trained,
            OpenHead opened,
            RequestFiles requests,
            Map<String, Decoder> decoders,
            Profile definitions,
            @Nullable Ablating ablating)
            throws IOException {
        long started = System.nanoTime();
        Map<String, List<Found>> found;
        try (Progress progress = Progress.of("running the head", requests.rows())) {
            found = new SiteStudy(trained, opened, ablating).run(requests, decoders, progress::advance);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--activations: " + refused.getMessage());
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        CausalReport report = new CausalReport(definitions, trained.targetWidth(), found);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            ObjectNode answer = CausalReport.JSON.createObjectNode();
            answer.put("profile", definitions.toString());
            if (ablating != null) {
                answer.put("ranking", ablating.ranking().toString());
            }
            answer.put("requests", requests.count()).put("rows", requests.rows() - requests.count());
            answer.setAll(report.json());
            answer.put("head_runs", opened.runs()).put("seconds", seconds);
            out.println(CausalReport.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(answer));
        } else {
            out.printf(
                    "%s%s: %s, %s counted, %s of the head in %.1f s%n%n",
                    definitions,
                    ablating == null ? "" : ", features ranked by " + ablating.ranking(),
                    Amounts.count(requests.count(), "request"),
                    Amounts.count(requests.rows() - requests.count(), "row"),
                    Amounts.count(opened.runs(), "run"),
                    seconds);
            report.print(out);
            printNotes(out, report, requests, decoders, ablating);
        }
        out.flush();
    }

    private static void printNotes(
            PrintWriter out,
            CausalReport report,
            RequestFiles requests,
            Map<String, Decoder> decoders,
            @Nullable Ablating ablating) {
        if (!requests.haveTokenIds()) {
            out.println("\nNo cross-entropies: the requests have no token_ids.");
        }
        for (String name : ablating == null ? List.<String>of() : List.copyOf(decoders.keySet())) {
            if (report.excluded(name) > 0) {
                out.printf(
                        "%n%s: %d of %d requests are left out of nAOPC and nComp, "
                                + "their logit moves by less than 0.1.%n",
                        name, report.excluded(name), requests.count());
            }
        }
    }

    private void attribute(
            Explainer trained,
            OpenHead opened,
            RequestFiles requests,
            Map<String, Decoder> decoders,
            Unembedding tokens)
            throws IOException {
        if (request < 0 || request >= requests.count()) {
            throw new UsageException("--request = %d: expected 0 to %d".formatted(request, requests.count() - 1));
        }
        RequestStudy study;
        try {
            study = RequestStudy.of(trained, opened, requests.request(request), new double[trained.targetWidth()]);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--activations: request %d: %s".formatted(request, refused.getMessage()));
        }
        try {
            tokens.requireAll(study.original());
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--unembedding: " + refused.getMessage());
        }
        Decoder ranked = decoders.getOrDefault(ADAPTED, trained.decoder());
        int[] order = study.ablation(ranked, FeatureRanking.CAUSAL, null).ranked();
        List<Integer> listed = IntStream.of(order).limit(features).boxed().toList();
        List<Integer> members = classTokens.isEmpty() ? tokens.nearest(study.target(), 20) : classTokens;
        List<Integer> controls = controlTokens.isEmpty() ? tokens.unrelated(study.target(), 10) : controlTokens;
        for (int token : IntStream.concat(
                        members.stream().mapToInt(Integer::intValue),
                        controls.stream().mapToInt(Integer::intValue))
                .toArray()) {
            if (token < 0 || token >= tokens.vocabulary()) {
                throw new UsageException("token %d: expected 0 to %d".formatted(token, tokens.vocabulary() - 1));
            }
        }
        Map<String, Attribution> found = new LinkedHashMap<>();
        int last = requests.request(request).rows() - 1;
        decoders.forEach((name, one) -> found.put(
                name, Attribution.of(one, tokens, study.codes(), last, listed, study.target(), members, controls)));
        AttributionReport report = new AttributionReport(request, study.target(), members, controls, found);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(CausalReport.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(report.json()));
        } else {
            report.print(out);
        }
        out.flush();
    }

    private @Nullable Unembedding unembedding(Explainer trained) throws IOException {
        if (unembedding == null) {
            return null;
        }
        if (!Files.isRegularFile(unembedding)) {
            throw new UsageException("--unembedding = %s: no such file".formatted(unembedding));
        }
        try {
            return Unembedding.read(unembedding, trained.targetWidth());
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--unembedding: " + refused.getMessage());
        }
    }

    private Decoder read(Path path, Explainer trained) throws IOException {
        if (!Files.exists(path)) {
            throw new UsageException("--decoder = %s: no such file or folder".formatted(path));
        }
        try {
            return DecoderFile.read(path, trained, explainer.options());
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--decoder: " + refused.getMessage());
        }
    }

    private static <E extends Enum<E>> E named(String option, String name, E[] known) {
        for (E one : known) {
            if (one.toString().equals(name)) {
                return one;
            }
        }
        throw new UsageException("%s = %s: expected one of %s".formatted(option, name, List.of(known)));
    }
}
