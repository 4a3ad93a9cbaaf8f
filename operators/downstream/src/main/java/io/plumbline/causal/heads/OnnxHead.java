package io.plumbline.causal.heads;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.OrtSession.RunOptions;
import ai.onnxruntime.OrtSession.SessionOptions;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadException.Fault;
import io.plumbline.linalg.Matrix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A head in an ONNX file, run by ONNX Runtime: on the CPU, or on a GPU with CUDA where the GPU's build of ONNX Runtime
 * stands in place of the usual one.
 *
 * <pre>
 * input         shape      type      for
 * activations   [T, d]     FLOAT     an autoencoder
 * targets       [T, d]     FLOAT     a transcoder
 * residual      [T, d]     FLOAT     a transcoder: the residual stream that the targets are added to
 *
 * output        shape      type
 * logits        [T, V]     FLOAT
 * </pre>
 *
 * T is the rows of a request and must be dynamic; d may be. Other outputs are not computed.
 *
 * <p><b>Trust.</b> A model is a program. Load only files that you would run. Checked here: the size of the file before
 * it is read, names, types and shapes, that no tensor's values lie in another file, the time of each run, and that each
 * answer is finite. Custom operators are not loaded.
 *
 * <p><b>Threads.</b> Calls wait for one another.
 */
public final class OnnxHead implements OpenHead {

    static final String ACTIVATIONS = "activations";
    static final String TARGETS = "targets";
    static final String RESIDUAL = "residual";
    static final String LOGITS = "logits";

    private final Path file;
    private final HeadLimits limits;
    private final OrtEnvironment environment;
    private final OrtSession session;
    private final HeadShape shape;
    private final TimedCalls calls;
    private FloatBuffer first = direct(0);
    private FloatBuffer second = direct(0);
    private long runs;

    private OnnxHead(Path file, HeadLimits limits, OrtEnvironment environment, OrtSession session, HeadShape shape) {
        this.file = file;
        this.limits = limits;
        this.environment = environment;
        this.session = session;
        this.shape = shape;
        calls = new TimedCalls("head " + file.getFileName(), limits.time());
    }

    /**
     * Loads a head.
     *
     * @throws HeadException when the file is missing, too large, no model, or a model of other inputs and outputs, or
     *     the device is not to be had
     */
    public static OnnxHead open(HeadLocation.InFile location, HeadLimits limits) {
        Path file = location.file();
        requireFile(file, limits);
        OrtEnvironment environment =
                OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, "plumbline");
        OrtSession session;
        try (SessionOptions options = new SessionOptions()) {
            options.setIntraOpNumThreads(limits.threads());
            options.setInterOpNumThreads(1);
            options.setSessionLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
            // Otherwise its threads keep a core busy between two runs.
            options.addConfigEntry("session.intra_op.allow_spinning", "0");
            addDevice(options, location);
            session = environment.createSession(file.toString(), options);
        } catch (OrtException refused) {
            throw new HeadException(
                    Fault.NOT_LOADED,
                    "%s: ONNX Runtime cannot load it: %s".formatted(file, refused.getMessage()),
                    refused);
        }
        try {
            return new OnnxHead(file, limits, environment, session, HeadShape.of(file, session));
        } catch (RuntimeException refused) {
            close(session);
            throw refused;
        }
    }

    private static void addDevice(SessionOptions options, HeadLocation.InFile location) {
        if (location.device().isCpu()) {
            return;
        }
        try {
            options.addCUDA(location.device().gpu());
        } catch (OrtException absent) {
            throw new HeadException(
                    Fault.NOT_LOADED,
                    ("%s: no %s here (%s). It needs a GPU with CUDA 12 and cuDNN 9, "
                                    + "and onnxruntime_gpu-%s.jar of com.microsoft.onnxruntime in place of "
                                    + "onnxruntime-%s.jar. Or let a worker run the head, or take the device cpu")
                            .formatted(
                                    location.file(),
                                    location.device(),
                                    absent.getMessage(),
                                    OrtEnvironment.getEnvironment().getVersion(),
                                    OrtEnvironment.getEnvironment().getVersion()),
                    absent);
        }
    }

    private static void requireFile(Path file, HeadLimits limits) {
        try {
            if (!Files.isRegularFile(file)) {
                throw new HeadException(Fault.NOT_LOADED, file + ": no such file; expected an ONNX model");
            }
            long bytes = Files.size(file);
            if (bytes > limits.bytes()) {
                throw new HeadException(
                        Fault.NOT_LOADED, "%s: %d bytes, at most %d are loaded".formatted(file, bytes, limits.bytes()));
            }
            OnnxFile.requireSelfContained(file);
        } catch (IOException unreadable) {
            throw new HeadException(
                    Fault.NOT_LOADED, "%s: cannot be read: %s".formatted(file, unreadable.getMessage()), unreadable);
        }
    }

    /** Returns the width of the rows it reads, or -1 where the file leaves it open. */
    int width() {
        return shape.width();
    }

    @Override
    public boolean readsResidual() {
        return shape.readsResidual();
    }

    @Override
    public synchronized long runs() {
        return runs;
    }

    @Override
    public synchronized Logits logits(Matrix rows, @Nullable Matrix residual) {
        if (rows.rows() < 1 || (shape.width() >= 0 && rows.columns() != shape.width())) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s reads rows of %d values, got [%d, %d]"
                            .formatted(file, shape.width(), rows.rows(), rows.columns()));
        }
        if (readsResidual() != (residual != null)) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    readsResidual()
                            ? ("%s needs the residual stream beside the targets: "
                                            + "a tensor \"residual\" in the file of requests")
                                    .formatted(file)
                            : "%s has no input \"residual\"".formatted(file));
        }
        if (residual != null && (residual.rows() != rows.rows() || residual.columns() != rows.columns())) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s: targets [%d, %d] and a residual stream [%d, %d]"
                            .formatted(file, rows.rows(), rows.columns(), residual.rows(), residual.columns()));
        }
        runs++;
        first = filled(first, rows);
        if (residual != null) {
            second = filled(second, residual);
        }
        long[] size = {rows.rows(), rows.columns()};
        return calls.call(
                stop -> run(size, residual != null, stop),
                message -> new HeadException(
                        Fault.TIMED_OUT, "%s: %s; %d rows, limit %s".formatted(file, message, size[0], limits.time())));
    }

    private Logits run(long[] size, boolean withResidual, TimedCalls.Stop stop) {
        Map<String, OnnxTensor> inputs = new LinkedHashMap<>();
        try (RunOptions options = new RunOptions()) {
            stop.by(() -> terminate(options));
            inputs.put(withResidual ? TARGETS : ACTIVATIONS, OnnxTensor.createTensor(environment, first, size));
            if (withResidual) {
                inputs.put(RESIDUAL, OnnxTensor.createTensor(environment, second, size));
            }
            try (OrtSession.Result result = session.run(inputs, Set.of(LOGITS), options)) {
                return logits(result.get(0), size);
            } finally {
                stop.over();
            }
        } catch (OrtException failed) {
            throw new HeadException(
                    Fault.FAILED, "%s: ONNX Runtime failed: %s".formatted(file, failed.getMessage()), failed);
        } finally {
            inputs.values().forEach(OnnxTensor::close);
        }
    }

    private static void terminate(RunOptions options) {
        try {
            options.setTerminate(true);
        } catch (OrtException refused) {
            throw new IllegalStateException("ONNX Runtime cannot end a run", refused);
        }
    }

    private Logits logits(OnnxValue value, long[] size) {
        if (!(value instanceof OnnxTensor tensor)) {
            throw new HeadException(Fault.WRONG_SHAPE, "%s: \"logits\" is no tensor".formatted(file));
        }
        long[] shaped = tensor.getInfo().getShape();
        if (shaped.length != 2 || shaped[0] != size[0] || shaped[1] < 1) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s: logits %s for %d rows, expected [%d, V]"
                            .formatted(file, HeadShape.text(shaped), size[0], size[0]));
        }
        if (shaped[0] * shaped[1] > Integer.MAX_VALUE - 8) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s: logits %s are more than one array holds; give shorter requests"
                            .formatted(file, HeadShape.text(shaped)));
        }
        float[] values = new float[(int) (shaped[0] * shaped[1])];
        tensor.getFloatBuffer().get(values);
        return Logits.finite(file.toString(), (int) shaped[0], (int) shaped[1], values);
    }

    private static FloatBuffer filled(FloatBuffer buffer, Matrix rows) {
        double[] values = rows.values();
        FloatBuffer target = buffer.capacity() >= values.length ? buffer : direct(values.length);
        target.clear();
        for (double value : values) {
            target.put((float) value);
        }
        return target.flip();
    }

    private static FloatBuffer direct(int values) {
        return ByteBuffer.allocateDirect(values * Float.BYTES)
                .order(ByteOrder.nativeOrder())
                .asFloatBuffer();
    }

    @Override
    public synchronized void close() {
        if (calls.close()) {
            close(session);
        }
    }

    private static void close(OrtSession session) {
        try {
            session.close();
        } catch (OrtException ignored) {
            throw new IllegalStateException("ONNX Runtime cannot close a session", ignored);
        }
    }
}
