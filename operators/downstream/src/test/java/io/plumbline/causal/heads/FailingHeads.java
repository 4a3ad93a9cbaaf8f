package io.plumbline.causal.heads;

import java.io.IOException;
import java.nio.file.Path;

/** Heads for rows of the live model that load and give no usable answer, in files called after their failures. */
public final class FailingHeads {

    private static final int WIDTH = 192;

    private FailingHeads() {}

    /** Writes {@code not_finite.onnx}, {@code wrong_shape.onnx} and {@code timed_out.onnx}. */
    public static void write(Path folder) throws IOException {
        TinyOnnx.write(folder.resolve("not_finite.onnx"), graph("Sqrt", WIDTH));
        TinyOnnx.write(folder.resolve("wrong_shape.onnx"), graph("Transpose", -1));
        TinyOnnx.write(folder.resolve("timed_out.onnx"), TinyOnnx.endless(WIDTH));
    }

    private static TinyOnnx graph(String operator, int width) {
        return TinyOnnx.graph()
                .node(TinyOnnx.node(operator, "activations").text(2, "logits"))
                .input("activations", TinyOnnx.FLOAT, -1, width)
                .output("logits", TinyOnnx.FLOAT, -1, width);
    }
}
