package io.plumbline.topology.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import io.plumbline.wire.Syntax;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

/**
 * Writes reports and manifests as JSON: keys in snake case, undefined values as null, unknown keys ignored when read.
 */
public final class Json {

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            // A version of 21.5 or "7" was not written by this program; taken as a number it would pass for another.
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .addModule(SectionsJson.addTo(AssessmentJson.module())
                    .addSerializer(Double.class, new FiniteOrNull())
                    .addSerializer(Double.TYPE, new FiniteOrNull()))
            .build();

    private Json() {}

    /**
     * Writes NaN and infinity as null: JSON has no word for them, and as quoted strings they would break whoever reads
     * a number.
     */
    private static final class FiniteOrNull extends StdSerializer<Double> {

        private static final long serialVersionUID = 1L;

        private FiniteOrNull() {
            super(Double.class);
        }

        @Override
        public void serialize(Double value, JsonGenerator json, SerializerProvider provider) throws IOException {
            if (Double.isFinite(value)) {
                json.writeNumber(value.doubleValue());
            } else {
                json.writeNull();
            }
        }
    }

    public static byte[] bytes(Object value) {
        return text(value).getBytes(StandardCharsets.UTF_8);
    }

    public static String text(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("%s cannot be written as JSON".formatted(value.getClass()), e);
        }
    }

    /** Returns what {@link #text} writes, as a tree. */
    public static JsonNode tree(Object value) {
        return MAPPER.valueToTree(value);
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not the JSON of a {@code type}. */
    public static <T> T read(byte[] bytes, Class<T> type) {
        T value;
        try {
            value = MAPPER.readValue(bytes, type);
        } catch (ValueInstantiationException e) {
            // The record's own words say it better than those around them.
            throw new IllegalArgumentException(
                    e.getCause() instanceof IllegalArgumentException refusal
                            ? refusal.getMessage()
                            : notTheJson(type, e),
                    e);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(notTheJson(type, e), e);
        } catch (IOException e) {
            throw new IllegalArgumentException("not the JSON of a %s".formatted(type.getSimpleName()), e);
        }
        if (value == null) {
            throw new IllegalArgumentException("null in place of a %s".formatted(type.getSimpleName()));
        }
        return value;
    }

    private static String notTheJson(Class<?> type, JsonProcessingException why) {
        String place = why instanceof JsonMappingException found
                ? found.getPath().stream()
                        .map(step ->
                                step.getFieldName() == null ? "[%d]".formatted(step.getIndex()) : step.getFieldName())
                        .collect(Collectors.joining("."))
                : "";
        return "not the JSON of a %s: %s"
                .formatted(
                        type.getSimpleName(),
                        place.isEmpty()
                                ? Syntax.JSON.what(why)
                                : "\"%s\" holds another kind of value than expected".formatted(place));
    }
}
