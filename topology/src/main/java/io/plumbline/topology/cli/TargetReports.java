package io.plumbline.topology.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.explainer.Explainer;
import io.plumbline.records.TargetBlock;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The answers of a command about several parts, such as the targets of an explainer: one about all, one about each. */
public final class TargetReports {

    /** The key of the blocks of an explainer with several targets. */
    public static final String BLOCKS = "blocks";

    private final Answer together = new Answer();
    private final Map<String, Answer> parts = new LinkedHashMap<>();
    private final String key;

    /** @param key of the answers about each */
    public TargetReports(String key) {
        this.key = key;
    }

    /** Returns the name of a block: {@code targets.3}; empty for an explainer with one decoder. */
    public static String name(Explainer explainer) {
        TargetBlock block = explainer.block();
        return block == null ? "" : block.name();
    }

    /** Returns the layers that a block reads. */
    static List<Integer> sources(Explainer explainer) {
        TargetBlock block = explainer.block();
        return block == null ? List.of() : block.sources();
    }

    /** Returns what tensors and keys of a block end in: {@code .3}; empty for an explainer with one decoder. */
    static String suffix(Explainer explainer) {
        TargetBlock block = explainer.block();
        return block == null ? "" : "." + block.target();
    }

    /** Returns where the baseline of a block lies in the folder of all. */
    public static Path baseline(Path folder, Explainer block) {
        return folder.resolve(name(block) + ".safetensors");
    }

    /** Returns what is said of all together. */
    public Answer together() {
        return together;
    }

    public void add(String part, Answer answer) {
        parts.put(part, answer);
    }

    public void printSummaries(PrintWriter out) {
        parts.forEach((name, answer) -> {
            out.println(name);
            answer.printSummary(out);
            out.println();
        });
    }

    public void print(PrintWriter out, boolean asJson) {
        if (asJson) {
            ObjectNode each = JsonNodeFactory.instance.objectNode();
            parts.forEach((name, answer) -> each.set(name, answer.json()));
            together.put(key, each).print(out, true);
            return;
        }
        together.print(out, false);
        parts.forEach((name, answer) -> {
            out.println();
            out.println(name);
            answer.print(out, false);
        });
    }
}
