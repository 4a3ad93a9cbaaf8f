package io.plumbline.causal.heads;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The first half of a live model: token ids become requests at a site. */
public final class LiveModel implements AutoCloseable {

    private final Path requests;
    private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
    private final OrtSession body;

    /** Opens the first half of a model, and a folder of requests as token ids. */
    public LiveModel(Path body, Path requests) throws OrtException {
        this.requests = requests;
        this.body = environment.createSession(body.toString());
    }

    /** Opens the whole set in a folder. */
    static LiveModel whole(Path folder) throws OrtException {
        return new LiveModel(folder.resolve("model/body.onnx"), folder.resolve("requests"));
    }

    /** Returns the first requests of a set as the explainer's site sees them. */
    public SiteStudy.Requests requests(String set, int most, Explainer explainer) throws IOException, OrtException {
        return requests(set, 0, most, explainer);
    }

    /** Returns some requests of a set, those behind the last left out, as the explainer's site sees them. */
    public SiteStudy.Requests requests(String set, int from, int to, Explainer explainer)
            throws IOException, OrtException {
        List<RequestRows> read = new ArrayList<>();
        try (Safetensors file = Safetensors.open(requests.resolve(set + ".safetensors"))) {
            long[] tokens = file.tensor("token_ids").toLongs();
            long[] offsets = file.tensor("request_offsets").toLongs();
            for (int i = from; i < Math.min(to, offsets.length - 1); i++) {
                read.add(request(Arrays.copyOfRange(tokens, (int) offsets[i], (int) offsets[i + 1]), explainer));
            }
        }
        return new SiteStudy.Requests() {
            @Override
            public int count() {
                return read.size();
            }

            @Override
            public RequestRows request(int index) {
                return read.get(index);
            }
        };
    }

    private RequestRows request(long[] tokens, Explainer explainer) throws OrtException {
        try (OnnxTensor input =
                        OnnxTensor.createTensor(environment, LongBuffer.wrap(tokens), new long[] {1, tokens.length});
                OrtSession.Result result = body.run(Map.of("token_ids", input))) {
            if (!explainer.isTranscoder()) {
                return new RequestRows(new ActivationBatch(matrix(result, "activations"), null, tokens), null);
            }
            return new RequestRows(
                    new ActivationBatch(matrix(result, "mlp_input"), matrix(result, "mlp_output"), tokens),
                    matrix(result, "residual"));
        }
    }

    private static Matrix matrix(OrtSession.Result result, String name) throws OrtException {
        float[][] rows = (float[][]) result.get(name).orElseThrow().getValue();
        Matrix matrix = Matrix.zeros(rows.length, rows[0].length);
        for (int i = 0; i < rows.length; i++) {
            for (int j = 0; j < rows[i].length; j++) {
                matrix.set(i, j, rows[i][j]);
            }
        }
        return matrix;
    }

    @Override
    public void close() throws OrtException {
        body.close();
    }
}
