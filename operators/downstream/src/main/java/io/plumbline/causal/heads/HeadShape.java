package io.plumbline.causal.heads;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.heads.HeadException.Fault;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The inputs that a head reads, checked by name, type and shape.
 *
 * @param width of the rows, or -1 where the file leaves it open
 */
record HeadShape(int width, boolean readsResidual) {

    private static final Set<String> AUTOENCODER = Set.of(OnnxHead.ACTIVATIONS);
    private static final Set<String> TRANSCODER = Set.of(OnnxHead.TARGETS, OnnxHead.RESIDUAL);

    static HeadShape of(Path file, OrtSession session) {
        Map<String, NodeInfo> inputs;
        Map<String, NodeInfo> outputs;
        try {
            inputs = session.getInputInfo();
            outputs = session.getOutputInfo();
        } catch (OrtException refused) {
            throw new HeadException(
                    Fault.NOT_LOADED,
                    "%s: ONNX Runtime does not tell its inputs: %s".formatted(file, refused.getMessage()),
                    refused);
        }
        boolean transcoder = inputs.keySet().equals(TRANSCODER);
        if (!transcoder && !inputs.keySet().equals(AUTOENCODER)) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s: inputs %s; expected [activations], or [residual, targets] for a transcoder"
                            .formatted(file, new TreeSet<>(inputs.keySet())));
        }
        NodeInfo logits = outputs.get(OnnxHead.LOGITS);
        if (logits == null) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s: outputs %s; expected one called \"logits\"".formatted(file, new TreeSet<>(outputs.keySet())));
        }
        requireMatrix(file, "output \"logits\"", logits, "[T, V]");
        int width = -1;
        for (NodeInfo input : inputs.values()) {
            long[] shape = requireMatrix(file, "input \"" + input.getName() + "\"", input, "[T, d]");
            if (width >= 0 && shape[1] >= 0 && shape[1] != width) {
                throw new HeadException(
                        Fault.WRONG_SHAPE,
                        "%s: targets and residual are rows of %d and of %d values".formatted(file, width, shape[1]));
            }
            width = shape[1] >= 0 ? Math.toIntExact(shape[1]) : width;
        }
        return new HeadShape(width, transcoder);
    }

    /**
     * Refuses a head that is not for an explainer.
     *
     * @param readsResidual what the head reads
     * @param width of the head's rows, or -1 where that is open
     */
    static void requireFit(HeadLocation head, boolean readsResidual, int width, boolean isTranscoder, int targetWidth) {
        if (readsResidual != isTranscoder) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    isTranscoder
                            ? ("%s reads activations, and the explainer is a transcoder: "
                                            + "its head reads targets and residual")
                                    .formatted(head)
                            : ("%s reads targets and residual, and the explainer is an autoencoder: "
                                            + "its head reads activations")
                                    .formatted(head));
        }
        if (width >= 0 && width != targetWidth) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    "%s reads rows of %d values, the explainer writes %d".formatted(head, width, targetWidth));
        }
    }

    private static long[] requireMatrix(Path file, String what, NodeInfo node, String expected) {
        if (!(node.getInfo() instanceof TensorInfo info)) {
            throw new HeadException(
                    Fault.WRONG_SHAPE, "%s: %s is no tensor, expected %s".formatted(file, what, expected));
        }
        long[] shape = info.getShape();
        if (info.type != OnnxJavaType.FLOAT || shape.length != 2 || shape[0] >= 0) {
            throw new HeadException(
                    Fault.WRONG_SHAPE,
                    ("%s: %s is %s of %s, expected %s of FLOAT with a dynamic T (weights may be of another type, "
                                            + "cast in the")
                                    .formatted(file, what, text(shape), info.type, expected)
                            + " graph)");
        }
        return shape;
    }

    static String text(long[] shape) {
        return Arrays.toString(shape).replace("-1", "?");
    }
}
