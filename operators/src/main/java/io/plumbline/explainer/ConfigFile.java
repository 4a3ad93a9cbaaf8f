package io.plumbline.explainer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.wire.Syntax;
import io.plumbline.wire.TextFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A configuration as a dictionary's library writes it, read key by key; each value is of the kind expected or refused
 * by name. Where Python wrote it, the same is read as Python reads: {@code NaN} and {@code Infinity} are numbers, and
 * of two entries with one key the last counts.
 */
public record ConfigFile(ObjectNode document) {

    private static final long LARGEST_BYTES = 1 << 20;
    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();
    private static final ObjectMapper JSON_OF_PEOPLE = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final ObjectMapper YAML = new YAMLMapper();

    public static ConfigFile json(Path file) throws IOException {
        return read(file, JSON, Syntax.JSON, LARGEST_BYTES);
    }

    /** Reads a file that need not be there; without it every key is absent. */
    public static ConfigFile jsonIfThere(Path file) throws IOException {
        DeadLink.refuse(file);
        return Files.isRegularFile(file) ? json(file) : new ConfigFile(JSON.createObjectNode());
    }

    /** Reads JSON that people wrote: a key that stands twice is refused. */
    static ConfigFile jsonOfPeople(Path file, long largestBytes) throws IOException {
        return read(file, JSON_OF_PEOPLE, Syntax.JSON, largestBytes);
    }

    public static ConfigFile yaml(Path file) throws IOException {
        return read(file, YAML, Syntax.YAML, LARGEST_BYTES);
    }

    private static ConfigFile read(Path file, ObjectMapper mapper, Syntax language, long largestBytes)
            throws IOException {
        DeadLink.refuse(file);
        long bytes = Files.size(file);
        if (bytes > largestBytes) {
            throw new ExplainerFormatException(
                    "%s: %d bytes, expected at most %d for a configuration".formatted(file, bytes, largestBytes));
        }
        try {
            String text = TextFile.read(file);
            if (!(mapper.readTree(text) instanceof ObjectNode document)) {
                throw new ExplainerFormatException("%s: not a %s object".formatted(file, language));
            }
            return new ConfigFile(document);
        } catch (JsonProcessingException e) {
            throw new ExplainerFormatException("%s: %s".formatted(file, language.fault(e)), e);
        } catch (ExplainerFormatException refused) {
            throw refused;
        } catch (IllegalArgumentException noText) {
            throw new ExplainerFormatException("%s: %s".formatted(file, noText.getMessage()), noText);
        }
    }

    /** Returns whether a key is absent or null. */
    public boolean isNull(String key) {
        return !document.hasNonNull(key);
    }

    /** Returns a number of things: whole, from 1 on. */
    public int size(String key) {
        JsonNode value = document.path(key);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1) {
            throw new ExplainerFormatException("%s = %s: expected a width, a whole number from 1 to %d"
                    .formatted(key, shown(value), Integer.MAX_VALUE));
        }
        return value.intValue();
    }

    public double number(String key, double whenAbsent) {
        JsonNode value = document.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return whenAbsent;
        }
        if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
            throw new ExplainerFormatException("%s = %s: expected a number".formatted(key, value));
        }
        return value.doubleValue();
    }

    /** Returns a number above 0. */
    public double positive(String key) {
        double value = number(key, 0.0);
        if (value <= 0.0) {
            throw new ExplainerFormatException(
                    "%s = %s: expected a number above 0".formatted(key, shown(document.path(key))));
        }
        return value;
    }

    public boolean flag(String key, boolean whenAbsent) {
        JsonNode value = document.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return whenAbsent;
        }
        if (!value.isBoolean()) {
            throw new ExplainerFormatException("%s = %s: expected true or false".formatted(key, value));
        }
        return value.booleanValue();
    }

    public String text(String key, String whenAbsent) {
        JsonNode value = document.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return whenAbsent;
        }
        if (!value.isTextual()) {
            throw new ExplainerFormatException("%s = %s: expected a string".formatted(key, value));
        }
        return value.textValue();
    }

    /** Returns a list of strings. */
    public List<String> texts(String key) {
        JsonNode value = document.path(key);
        List<String> texts = new ArrayList<>();
        for (JsonNode entry : value) {
            texts.add(entry.textValue());
        }
        if (!value.isArray() || texts.isEmpty() || texts.contains(null)) {
            throw new ExplainerFormatException("%s = %s: expected a list of strings".formatted(key, shown(value)));
        }
        return texts;
    }

    /** Returns a nested object; empty where there is none. */
    public ConfigFile nested(String key) {
        return document.get(key) instanceof ObjectNode nested
                ? new ConfigFile(nested)
                : new ConfigFile(document.objectNode());
    }

    private static String shown(JsonNode value) {
        return value.isMissingNode() ? "(absent)" : value.toString();
    }
}
