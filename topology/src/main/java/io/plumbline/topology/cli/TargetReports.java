package io.plumbline.topology.cli;

import io.plumbline.explainer.Explainer;
import io.plumbline.wire.TargetBlock;
import java.util.List;

/** What commands say of the blocks of an explainer with several targets. */
final class TargetReports {

    private TargetReports() {}

    /** Returns the name of a block: {@code targets.3}; empty for an explainer with one decoder. */
    static String name(Explainer explainer) {
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
}
