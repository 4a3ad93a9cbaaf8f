package io.plumbline.topology.metrics;

import io.plumbline.adaptation.Behaviour;
import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.adaptation.GateTest;
import io.plumbline.adaptation.PairedImprovement;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.Figure;
import io.plumbline.causal.ProbeProvider;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/** The rest of a model that says the same of every window and lets every refit pass. */
public final class ConstantProbes implements ProbeProvider {

    /** Writes a jar that names this provider, for the class path of what runs a head. */
    static Path jar(Path folder) throws IOException {
        Path jar = folder.resolve("probes.jar");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            zip.putNextEntry(new ZipEntry("META-INF/services/" + ProbeProvider.class.getName()));
            zip.write(ConstantProbes.class.getName().getBytes(StandardCharsets.UTF_8));
            zip.closeEntry();
        }
        return jar;
    }

    @Override
    public BehaviourProbe open(DownstreamSettings settings, Explainer explainer) {
        return new Constant();
    }

    private static final class Constant implements BehaviourProbe {

        @Override
        public WindowBehaviour measure(List<byte[]> requests, @Nullable Decoder active) {
            Map<Statistic, Figure> figures = WindowBehaviour.STATISTICS.stream()
                    .collect(Collectors.toMap(statistic -> statistic, unused -> new Figure(0.5, 0.4, 0.6)));
            return new WindowBehaviour(8, 64, 0, figures, figures, null, null, null, null, 1_000);
        }

        @Override
        public BehaviourJudge judge(List<byte[]> heldOut, @Nullable List<byte[]> choosing, List<byte[]> normal) {
            Behaviour.Change change = new Behaviour.Change(
                    new Behaviour.Level(0.5, 0.4, 0.6),
                    new Behaviour.Level(0.3, 0.2, 0.4),
                    new PairedImprovement(0.4, 0.2, 0.6, 8));
            return new BehaviourJudge() {
                @Override
                public Behaviour judge(Decoder trained, Decoder current, Decoder proposed) {
                    return new Behaviour.Measured(change, null, 1.0);
                }

                @Override
                public GateTest inDistribution(Decoder trained, Decoder proposed) {
                    return Behaviour.inDistribution(null, 1.0);
                }
            };
        }

        @Override
        public void close() {}
    }
}
