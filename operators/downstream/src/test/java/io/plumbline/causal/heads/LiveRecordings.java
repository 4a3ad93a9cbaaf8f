package io.plumbline.causal.heads;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Records whole requests of a live model at both sites: {@code LiveRecordings FOLDER OUT}. */
public final class LiveRecordings {

    private LiveRecordings() {}

    public static void main(String[] arguments) throws Exception {
        Path live = Path.of(arguments[0]);
        Path out = Path.of(arguments[1]);
        try (LiveModel model = LiveModel.whole(live)) {
            for (String site : List.of("sae", "transcoder")) {
                Explainer explainer = Formats.read(live.resolve("explainers").resolve(site));
                for (String set : List.of(
                        "baseline",
                        "id_eval",
                        "java_adapt",
                        "java_eval",
                        "kjv_adapt",
                        "kjv_eval",
                        "spanish_adapt",
                        "spanish_eval")) {
                    Path file = out.resolve(site).resolve(set + ".safetensors");
                    Files.createDirectories(file.getParent());
                    SiteStudy.Requests requests = model.requests(set, set.endsWith("_eval") ? 128 : 1_000, explainer);
                    write(requests, explainer, file);
                    System.out.println(file + ": requests: " + requests.count());
                }
            }
        }
    }

    /** Writes requests as a dump of the explainer's site. */
    public static void write(SiteStudy.Requests requests, Explainer explainer, Path file) throws IOException {
        long[] offsets = new long[requests.count() + 1];
        for (int i = 0; i < requests.count(); i++) {
            offsets[i + 1] = offsets[i] + requests.request(i).rows();
        }
        int rows = (int) offsets[requests.count()];
        Matrix activations = Matrix.zeros(rows, explainer.inputWidth());
        Matrix targets = Matrix.zeros(rows, explainer.targetWidth());
        Matrix residual = Matrix.zeros(rows, explainer.targetWidth());
        long[] tokens = new long[rows];
        for (int i = 0; i < requests.count(); i++) {
            RequestRows request = requests.request(i);
            int at = (int) offsets[i];
            copy(request.batch().activations(), activations, at);
            long[] ids = Objects.requireNonNull(request.batch().tokenIds());
            System.arraycopy(ids, 0, tokens, at, ids.length);
            if (explainer.isTranscoder()) {
                copy(request.targets(), targets, at);
                copy(Objects.requireNonNull(request.residual()), residual, at);
            }
        }
        SafetensorsWriter writer = SafetensorsWriter.create()
                .add("activations", DType.F32, activations)
                .addLongs("token_ids", tokens)
                .addLongs("request_offsets", offsets);
        if (explainer.isTranscoder()) {
            writer.add("targets", DType.F32, targets).add("residual", DType.F32, residual);
        }
        writer.writeTo(file);
    }

    private static void copy(Matrix from, Matrix to, int row) {
        System.arraycopy(from.values(), 0, to.values(), row * to.columns(), from.values().length);
    }
}
