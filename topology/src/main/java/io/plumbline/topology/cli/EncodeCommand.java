package io.plumbline.topology.cli;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.refit.Reconstruction;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline encode}: codes and reconstructions of dumps, to compare with another library. */
@Command(
        name = "encode",
        mixinStandardHelpOptions = true,
        description = {
            "Encodes dumps and writes codes and reconstructions as safetensors, "
                    + "to compare with the library the explainer came from.",
            "",
            "codes [n, d_sae] and reconstructions [n, d_out], in the space of the targets as they come. "
                    + "With --sparse, in the place"
                    + " of codes, code_offsets [n + 1], code_indices and code_values: "
                    + "those of row i are offsets[i] to offsets[i + 1] - 1.",
            "A cross-layer transcoder or crosscoder is encoded block by block, "
                    + "or the one of --explainer-option target=L: the names of all tensors"
                    + " of a block then end in its layer where there are several, as codes.3 and reconstructions.3."
        },
        footer = "  plumbline encode --explainer sae/ --activations rows.safetensors --out codes.safetensors")
public final class EncodeCommand implements Callable<Integer> {

    @Mixin
    ExplainerFacts.Place explainer;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps; several are one stream.")
    List<Path> activations;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The file to write; must not exist.")
    Path out;

    @Option(names = "--dtype", defaultValue = "f32", description = "f32 or f64, of what is written. Default: f32.")
    AdaptCommand.OutputType dtype;

    @Option(names = "--sparse", description = "Write the codes that are not zero, in three tensors.")
    boolean sparse;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Options.requireNew("--out", out, "file");
        List<Explainer> blocks = Options.blocks(explainer.path(), explainer.options());
        SafetensorsWriter writer = SafetensorsWriter.create();
        Answer answer = new Answer();
        for (Explainer block : blocks) {
            encode(block, blocks.size() == 1 ? "" : TargetReports.suffix(block), writer, answer);
        }
        writer.writeTo(out);
        answer.put("out", out.toString()).print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    private void encode(Explainer trained, String suffix, SafetensorsWriter writer, Answer answer) throws IOException {
        List<ActivationBatch> batches = new ArrayList<>();
        try (ActivationStream stream = ActivationStream.open(activations, trained)) {
            stream.forEach("reading", batches::add);
        }
        Matrix inputs = Stacked.of(batches, ActivationBatch::activations, trained.inputWidth());
        Matrix targets = Stacked.of(
                batches,
                batch -> trained.space().targets(batch.activations(), batch.targetRows()),
                trained.targetWidth());
        SparseCodes codes = trained.encoder().encode(inputs);
        Matrix reconstructions =
                trained.space().toTargets(inputs, trained.decoder().reconstruct(codes));
        write(codes, reconstructions, suffix, writer);
        answer.put("rows" + suffix, codes.rows())
                .put("features" + suffix, codes.features())
                .put("active_per_row" + suffix, (double) codes.nonZeros() / codes.rows());
        Reconstruction measured = Reconstruction.between(reconstructions, targets);
        String key = "reconstruction_fvu" + suffix;
        if (Double.isFinite(measured.fvu())) {
            answer.put(key, measured.fvu());
        } else {
            answer.putUndefined(key, "the targets do not vary");
        }
    }

    private void write(SparseCodes codes, Matrix reconstructions, String suffix, SafetensorsWriter writer) {
        DType type = dtype == AdaptCommand.OutputType.F64 ? DType.F64 : DType.F32;
        if (sparse) {
            writer.addLongs("code_offsets" + suffix, longs(codes.rowStart()))
                    .addLongs("code_indices" + suffix, longs(codes.feature()))
                    .addVector("code_values" + suffix, type, codes.value());
        } else {
            if ((long) codes.rows() * codes.features() > Integer.MAX_VALUE / Double.BYTES) {
                throw new UsageException(
                        "%d rows of %d codes are too many for one matrix; add --sparse, or encode fewer rows"
                                .formatted(codes.rows(), codes.features()));
            }
            writer.add("codes" + suffix, type, codes.toDense());
        }
        writer.add("reconstructions" + suffix, type, reconstructions);
    }

    private static long[] longs(int[] values) {
        return Arrays.stream(values).asLongStream().toArray();
    }
}
