package io.plumbline.demo;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.OrtSession.SessionOptions;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs a language model as far as the site: {@code token_ids} [1, T] INT64 become {@code activations} [T, d] FLOAT. One
 * thread.
 */
final class LanguageModel implements AutoCloseable {

    static final int TOKENS_PER_REQUEST = 128;

    private static final String TOKEN_IDS = "token_ids";
    private static final String ACTIVATIONS = "activations";

    private final BytePairs tokenizer;
    private final long firstToken;
    private final OrtEnvironment environment;
    private final OrtSession session;

    private LanguageModel(BytePairs tokenizer, long firstToken, OrtEnvironment environment, OrtSession session) {
        this.tokenizer = tokenizer;
        this.firstToken = firstToken;
        this.environment = environment;
        this.session = session;
    }

    static LanguageModel open(Path body, Path tokenizerFile) throws IOException {
        BytePairs tokenizer = BytePairs.read(tokenizerFile);
        Long first = tokenizer.firstToken();
        if (first == null) {
            throw new IllegalArgumentException(
                    "%s: no token <|endoftext|>, which stands before every text".formatted(tokenizerFile));
        }
        OrtEnvironment environment =
                // The name and the level that a head has: there is one of them in a process.
                OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, "plumbline");
        try (SessionOptions options = new SessionOptions()) {
            options.setIntraOpNumThreads(2);
            options.addConfigEntry("session.intra_op.allow_spinning", "0");
            return new LanguageModel(
                    tokenizer, first, environment, environment.createSession(body.toString(), options));
        } catch (OrtException refused) {
            throw new IllegalArgumentException(
                    "%s: ONNX Runtime cannot load it: %s".formatted(body, refused.getMessage()), refused);
        }
    }

    BytePairs tokenizer() {
        return tokenizer;
    }

    long firstToken() {
        return firstToken;
    }

    /** Cuts a text into requests of 128 tokens, the first of each the one that stands before every text. */
    List<long[]> requests(String text) {
        long[] tokens = tokenizer.encode(text);
        int length = TOKENS_PER_REQUEST - 1;
        List<long[]> requests = new ArrayList<>();
        for (int from = 0; from + length <= tokens.length; from += length) {
            requests.add(request(Arrays.copyOfRange(tokens, from, from + length)));
        }
        return requests;
    }

    /** Returns some tokens with the first one before them. */
    long[] request(long... tokens) {
        long[] request = new long[tokens.length + 1];
        request[0] = firstToken;
        System.arraycopy(tokens, 0, request, 1, tokens.length);
        return request;
    }

    /** Runs the model on one request. */
    Matrix activations(long... tokens) {
        try (OnnxTensor input =
                        OnnxTensor.createTensor(environment, LongBuffer.wrap(tokens), new long[] {1, tokens.length});
                OrtSession.Result result = session.run(Map.of(TOKEN_IDS, input), Set.of(ACTIVATIONS))) {
            float[][] rows = (float[][]) result.get(0).getValue();
            Matrix matrix = Matrix.zeros(rows.length, rows[0].length);
            for (int i = 0; i < rows.length; i++) {
                for (int j = 0; j < rows[i].length; j++) {
                    matrix.set(i, j, rows[i][j]);
                }
            }
            return matrix;
        } catch (OrtException failed) {
            throw new IllegalStateException("the model failed: " + failed.getMessage(), failed);
        }
    }

    /** Runs the model on requests and writes what a model server would send of them. */
    void record(List<long[]> requests, Path file) throws IOException {
        long[] offsets = new long[requests.size() + 1];
        for (int i = 0; i < requests.size(); i++) {
            offsets[i + 1] = offsets[i] + requests.get(i).length;
        }
        int width = activations(firstToken).columns();
        Matrix rows = Matrix.zeros((int) offsets[requests.size()], width);
        long[] tokens = new long[rows.rows()];
        for (int i = 0; i < requests.size(); i++) {
            long[] request = requests.get(i);
            Matrix found = activations(request);
            System.arraycopy(found.values(), 0, rows.values(), (int) offsets[i] * width, found.values().length);
            System.arraycopy(request, 0, tokens, (int) offsets[i], request.length);
        }
        SafetensorsWriter.create()
                .add(ACTIVATIONS, DType.F32, rows)
                .addLongs(TOKEN_IDS, tokens)
                .addLongs("request_offsets", offsets)
                .writeTo(file);
    }

    @Override
    public void close() throws OrtException {
        session.close();
    }
}
