package io.plumbline.topology.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.plumbline.comparison.Cause;
import io.plumbline.comparison.Policy;
import io.plumbline.wire.Syntax;
import io.plumbline.wire.TextFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the policy of {@code plumbline compare}: limits of figures, and the causes that are meant. */
public final class PolicyFile {

    private PolicyFile() {}

    /** @throws ConfigException with a sentence for every mistake */
    public static Policy read(Path file) throws IOException {
        List<String> problems = new ArrayList<>();
        Map<String, Double> limits = new LinkedHashMap<>();
        List<String> allowed = List.of();
        try {
            ConfigNode root = ConfigNode.root(ConfigReader.YAML.readTree(TextFile.read(file)), problems);
            for (String key : Policy.KEYS) {
                if (root.has(key)) {
                    limits.put(key, root.real(key, 0.0, 0.0, key.endsWith(Policy.AT_LEAST) ? 1.0 : Double.MAX_VALUE));
                }
            }
            allowed = root.texts("allowed_causes");
            if (!Cause.KINDS.containsAll(allowed)) {
                root.problem("allowed_causes", allowed, "expected some of " + String.join(", ", Cause.KINDS));
            }
            root.refuseUnknownKeys();
        } catch (JsonProcessingException broken) {
            problems.add(Syntax.YAML.fault(broken));
        } catch (IllegalArgumentException noText) {
            problems.add(String.valueOf(noText.getMessage()));
        }
        if (limits.isEmpty() && problems.isEmpty()) {
            problems.add("no rule: expected one or more, such as survival_min: 0.95");
        }
        if (!problems.isEmpty()) {
            throw new ConfigException(file.toString(), problems);
        }
        return new Policy(limits, allowed);
    }
}
