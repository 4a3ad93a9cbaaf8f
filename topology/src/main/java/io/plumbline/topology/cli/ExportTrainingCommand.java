package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.baseline.RequestModel;
import io.plumbline.explainer.Explainer;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.groups.UnusualRequest;
import io.plumbline.groups.UnusualRequests;
import io.plumbline.judgement.Amounts;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestTotals;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline export-training}: the requests of a group of new traffic, for whoever retrains. */
@Command(
        name = "export-training",
        mixinStandardHelpOptions = true,
        description = {
            "Writes the requests of a group of new traffic as one dump, to train an explainer on.",
            "",
            "The group's number is the one that `plumbline assess --groups` gives it for the same dumps and baseline. "
                    + "Requests are whole, but for rows that the baseline was made without. "
                    + "`plumbline-sae saelens-cache` of the Python package turns the dump into SAELens' cache."
        },
        footer = {
            "  plumbline assess --explainer sae/ --baseline baseline.safetensors \\",
            "      --activations today.safetensors --groups",
            "  plumbline export-training --explainer sae/ --baseline baseline.safetensors \\",
            "      --activations today.safetensors --group 1 --out group-1.safetensors"
        })
public final class ExportTrainingCommand implements Callable<Integer> {

    @Mixin
    ExplainerFacts.Place explainer;

    @Option(
            names = "--baseline",
            required = true,
            paramLabel = "FILE",
            description = "File written by `plumbline baseline`.")
    Path baseline;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps; several are one stream.")
    List<Path> activations;

    @Option(names = "--group", required = true, paramLabel = "N", description = "The group's number, from 1.")
    int group;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The file to write; must not exist.")
    Path out;

    @Option(names = "--dtype", defaultValue = "f32", description = "f32 or f64, of what is written. Default: f32.")
    AdaptCommand.OutputType dtype;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Options.requireNew("--out", out, "file");
        Explainer trained = Options.explainer(explainer.path(), explainer.options());
        Baseline normal = Options.baseline(baseline, trained);
        List<ActivationBatch> requests;
        // One stream for both readings: requests are counted, and rows masked, alike.
        try (ActivationStream stream =
                ActivationStream.open(activations, trained, normal.masking().mask())) {
            requests = requests(stream, found(stream, normal));
        }
        dump(requests, trained).writeTo(out);
        new Answer()
                .put("requests", requests.size())
                .put("rows", requests.stream().mapToInt(ActivationBatch::rows).sum())
                .put("out", out.toString())
                .print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    private TrafficGroup found(ActivationStream stream, Baseline normal) throws IOException {
        RequestModel model = normal.requests();
        if (model == null) {
            throw new UsageException("%s: %s".formatted(baseline, RequestModel.MISSING));
        }
        RecordedWindow window = new RecordedWindow(normal);
        stream.forEach("grouping", window::add);
        RequestTotals totals = Objects.requireNonNull(window.totals());
        List<TrafficGroup> groups =
                ListedGroups.found(UnusualRequests.of(model.groupSpace()).add(totals.totals()), normal);
        if (group < 1 || group > groups.size()) {
            throw new UsageException("--group = %d: these dumps have %s; `plumbline assess --groups` lists them"
                    .formatted(group, Amounts.count(groups.size(), "group")));
        }
        return groups.get(group - 1);
    }

    private static List<ActivationBatch> requests(ActivationStream stream, TrafficGroup group) throws IOException {
        Set<String> members =
                group.members().stream().map(UnusualRequest::label).collect(Collectors.toUnmodifiableSet());
        List<ActivationBatch> requests = new ArrayList<>();
        int[] number = {0};
        stream.forEach("writing", request -> {
            if (members.contains(Integer.toString(number[0]++))) {
                requests.add(request);
            }
        });
        return requests;
    }

    private SafetensorsWriter dump(List<ActivationBatch> requests, Explainer trained) {
        DType type = dtype == AdaptCommand.OutputType.F64 ? DType.F64 : DType.F32;
        ActivationBatch first = requests.get(0);
        long[] offsets = new long[requests.size() + 1];
        for (int i = 0; i < requests.size(); i++) {
            offsets[i + 1] = offsets[i] + requests.get(i).rows();
        }
        SafetensorsWriter writer = SafetensorsWriter.create()
                .add(
                        "activations",
                        type,
                        Stacked.of(
                                requests,
                                ActivationBatch::activations,
                                first.activations().columns()))
                .addLongs("request_offsets", offsets);
        if (trained.isTranscoder()) {
            // As they came: the space of this decoder is no matter for training another one.
            writer.add(
                    "targets",
                    type,
                    Stacked.of(
                            requests,
                            batch -> trained.space().targets(batch.activations(), batch.targetRows()),
                            trained.targetWidth()));
        }
        if (requests.stream().allMatch(request -> request.tokenIds() != null)) {
            writer.addLongs(
                    "token_ids",
                    requests.stream()
                            .flatMapToLong(request -> Arrays.stream(Objects.requireNonNull(request.tokenIds())))
                            .toArray());
        }
        return writer;
    }
}
