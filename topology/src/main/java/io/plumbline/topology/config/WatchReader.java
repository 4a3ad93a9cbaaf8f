package io.plumbline.topology.config;

import io.plumbline.features.MeanTest;
import io.plumbline.probes.ProbeFile;
import io.plumbline.probes.WatchSettings;
import io.plumbline.wire.Printable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code watch} of a site: what its users rely on. */
final class WatchReader {

    private static final double LEAST_DISCOVERY_RATE = 1e-4;

    private WatchReader() {}

    static WatchSettings read(ConfigNode node, ConfigReader reader) {
        Set<Integer> features = new LinkedHashSet<>();
        for (String text : node.texts("features")) {
            if (!text.matches("\\d{1,9}")) {
                node.problem("features", text, "expected indices of features, such as [12, 4711]");
            } else if (!features.add(Integer.valueOf(text))) {
                node.problem("features", text, "expected each feature once");
            }
        }
        List<ProbeFile> probes = probes(node, reader);
        if (Math.max(features.size(), probes.size()) > WatchSettings.MOST) {
            node.problem(
                    features.size() > WatchSettings.MOST ? "features" : "probes",
                    "lists more than " + WatchSettings.MOST + ", which bounds the report and the metrics");
        }
        double rate = node.real(
                "false_discovery_rate", WatchSettings.DEFAULT_FALSE_DISCOVERY_RATE, LEAST_DISCOVERY_RATE, 0.5);
        node.refuseUnknownKeys();
        WatchSettings watch = new WatchSettings(List.copyOf(features), probes, rate);
        double least = watch.tests() * MeanTest.LEAST;
        if (rate < least) {
            node.problem(
                    "false_discovery_rate",
                    rate,
                    "expected at least %s, since %d tests share it and none finds a chance below 1/%.0f"
                            .formatted(least, watch.tests(), 1.0 / MeanTest.LEAST));
        }
        return watch;
    }

    private static List<ProbeFile> probes(ConfigNode node, ConfigReader reader) {
        List<ProbeFile> probes = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (ConfigNode one : node.mappings("probes", "file")) {
            ProbeFile probe = probe(one, reader);
            if (probe != null) {
                String name = probe.label();
                if (name.length() > ProbeFile.LONGEST_NAME
                        || name.startsWith("feature ")
                        || !name.equals(Printable.of(name))) {
                    one.problem(
                            "name",
                            name,
                            "expected a name of at most %d characters that does not begin with \"feature \""
                                    .formatted(ProbeFile.LONGEST_NAME));
                } else if (!names.add(name)) {
                    one.problem("name", name, "expected a name of its own beside another probe of this name");
                }
                probes.add(probe);
            }
        }
        return probes;
    }

    private static @Nullable ProbeFile probe(ConfigNode one, ConfigReader reader) {
        String file = one.required("file", "", "a probe: .safetensors, .npz, .pt or .json");
        String name = one.textOrNull("name");
        Double threshold = one.has("threshold")
                ? Double.valueOf(one.real("threshold", 0.0, -Double.MAX_VALUE, Double.MAX_VALUE))
                : null;
        one.refuseUnknownKeys();
        return file.isEmpty() ? null : new ProbeFile(reader.path(one, "file", file), name, threshold);
    }
}
