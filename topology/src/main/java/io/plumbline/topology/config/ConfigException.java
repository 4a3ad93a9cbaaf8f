package io.plumbline.topology.config;

import java.util.List;

/** Thrown for a configuration that must not run. Every mistake found is listed, one sentence each. */
public final class ConfigException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final List<String> problems;

    /**
     * @param source what was read, as the reader of the message knows it: usually the file's path
     * @param problems at least one sentence
     */
    public ConfigException(String source, List<String> problems) {
        super(message(source, problems));
        this.problems = List.copyOf(problems);
    }

    /** Returns one sentence per mistake: key, value, what was expected. */
    public List<String> problems() {
        return problems;
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }

    private static String message(String source, List<String> problems) {
        return problems.size() == 1
                ? source + ": " + problems.get(0)
                : "%s: %d problems%n  %s"
                        .formatted(source, problems.size(), String.join(System.lineSeparator() + "  ", problems));
    }
}
