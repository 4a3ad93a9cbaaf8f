package io.plumbline.topology.cli;

import io.plumbline.baseline.UsualRank;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.judgement.Amounts;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs {@code plumbline principal}: an explainer of the leading directions of recorded rows.
 *
 * <p>Each direction v is two features, {@code max(0, v (x - b))} and {@code max(0, -v (x - b))}, which decode to v and
 * -v: together they give the projection of a row onto the directions, in an architecture that every library reads.
 */
@Command(
        name = "principal",
        mixinStandardHelpOptions = true,
        description = {
            "Makes an explainer of the leading directions of recorded rows, for a site where probes are watched and"
                    + " nobody has trained a dictionary.",
            "",
            "The folder is a SAE in the format of SAELens with two features a direction, and stands as explainer of a"
                    + " baseline and a site like any other. Its FVU is the share of the variance outside of the"
                    + " directions, its gap the turn of the window's leading directions from the recording's."
        },
        footer = "  plumbline principal --activations rows.safetensors --out directions/")
public final class PrincipalCommand implements Callable<Integer> {

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of clean rows; several are one stream.")
    List<Path> activations;

    @Option(
            names = "--directions",
            paramLabel = "K",
            description = "How many; less than the width of a row. Default: " + UsualRank.RULE + ".")
    @Nullable
    Integer directions;

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "The folder to make; must not exist.")
    Path out;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Options.requireNew("--out", out, "folder");
        SecondMoment moment = moment();
        int d = moment.dimension();
        int rank = directions == null ? UsualRank.of(d) : directions;
        if (rank < 1 || rank >= d) {
            throw new UsageException(
                    "--directions = %d: expected 1 to %d, less than the width of a row".formatted(rank, d - 1));
        }
        if (moment.rows() <= rank) {
            throw new UsageException("--activations: %s span no %s; record more, or ask for fewer --directions"
                    .formatted(Amounts.count(moment.rows(), "row"), Amounts.count(rank, "direction")));
        }
        ActiveSubspace leading = ActiveSubspace.leadingOnly(moment.matrix(), rank, null);
        write(leading.subspace().basis(), moment.mean());
        double energy = 0.0;
        for (int i = 1; i <= rank; i++) {
            energy += leading.eigenvalue(i);
        }
        spec.commandLine()
                .getOut()
                .println("wrote %s: %s of %s, with %.1f %% of their energy"
                        .formatted(
                                out,
                                Amounts.count(rank, "direction"),
                                Amounts.count(moment.rows(), "row"),
                                100.0 * energy / moment.trace()));
        return ExitCodes.FINE;
    }

    private SecondMoment moment() throws IOException {
        SecondMomentAccumulator[] sum = new SecondMomentAccumulator[1];
        try (ActivationStream stream = ActivationStream.open(activations)) {
            stream.forEach("reading", request -> {
                if (sum[0] == null) {
                    sum[0] = SecondMomentAccumulator.ofDimension(
                            request.activations().columns());
                }
                sum[0].add(request.activations());
            });
        }
        if (sum[0] == null) {
            throw new UsageException("--activations: there are no rows in them");
        }
        return sum[0].snapshot();
    }

    private void write(Matrix basis, double[] mean) throws IOException {
        int d = basis.rows();
        int features = 2 * basis.columns();
        Matrix decoder = Matrix.zeros(features, d);
        for (int feature = 0; feature < features; feature++) {
            double sign = feature % 2 == 0 ? 1.0 : -1.0;
            for (int j = 0; j < d; j++) {
                decoder.set(feature, j, sign * basis.get(j, feature / 2));
            }
        }
        String config = String.format(
                Locale.ROOT,
                "{\"architecture\": \"standard\", \"d_in\": %d, \"d_sae\": %d, \"apply_b_dec_to_input\": true,"
                        + " \"normalize_activations\": \"none\"}%n",
                d,
                features);
        AtomicFile.writeFolder(out, folder -> {
            SafetensorsWriter.create()
                    .add("W_enc", DType.F32, decoder.transpose())
                    .addVector("b_enc", DType.F32, new double[features])
                    .add("W_dec", DType.F32, decoder)
                    .addVector("b_dec", DType.F32, mean)
                    .writeTo(folder.resolve("sae_weights.safetensors"));
            AtomicFile.write(folder.resolve("cfg.json"), config.getBytes(StandardCharsets.UTF_8));
        });
    }
}
