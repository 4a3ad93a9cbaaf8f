package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the JSON Schema of records that are written as JSON. */
public final class JsonSchemas {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final SnakeCaseStrategy SNAKE_CASE = new SnakeCaseStrategy();

    private final Map<Class<?>, String> references;

    /** @param references where the schemas of records are that stand elsewhere */
    public JsonSchemas(Map<Class<?>, String> references) {
        this.references = Map.copyOf(references);
    }

    /** Returns the name of a record's schema. */
    public static String fileName(Class<?> type) {
        return SNAKE_CASE.translate(type.getSimpleName()).replace('_', '-') + ".schema.json";
    }

    /** Returns the schema of a report: keys that are not there may be added later, and are allowed. */
    public ObjectNode schema(Class<?> type) {
        ObjectNode schema = MAPPER.createObjectNode()
                .put("$schema", "https://json-schema.org/draft/2020-12/schema")
                .put("title", type.getSimpleName());
        return schema.setAll(ofRecord(type));
    }

    /** Returns the schema of a record, without a title. */
    public ObjectNode ofRecord(Class<?> type) {
        ObjectNode schema = MAPPER.createObjectNode().put("type", "object");
        ObjectNode properties = schema.putObject("properties");
        addKeys(properties, type, "");
        ArrayNode required = schema.putArray("required");
        properties.fieldNames().forEachRemaining(required::add);
        return schema;
    }

    private void addKeys(ObjectNode properties, Class<?> type, String prefix) {
        for (RecordComponent component : type.getRecordComponents()) {
            if (component.getAccessor().isAnnotationPresent(JsonIgnore.class)) {
                continue;
            }
            JsonUnwrapped group = component.getAccessor().getAnnotation(JsonUnwrapped.class);
            if (group == null) {
                properties.set(
                        prefix + SNAKE_CASE.translate(component.getName()),
                        described(of(component.getAnnotatedType()), component.getAccessor()));
            } else if (component.getType() == Sections.class) {
                addSections(properties, Sections.ALL);
            } else if (component.getType() == GapAssessment.class) {
                addStatistics(properties);
            } else {
                addKeys(properties, component.getType(), group.prefix());
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            JsonProperty derived = method.getAnnotation(JsonProperty.class);
            if (derived != null) {
                properties.set(derived.value(), described(of(method.getAnnotatedReturnType()), method));
            }
        }
    }

    /** Adds the keys of sections, each null where a window has none. */
    public void addSections(ObjectNode properties, List<SectionKind<?>> kinds) {
        for (SectionKind<?> kind : kinds) {
            properties.set(kind.key(), orNull(of(kind.valueType(), null)).put("description", kind.help()));
        }
    }

    /** Adds a number for each statistic by its label, null where it is undefined. */
    public static void addNumbers(ObjectNode properties, List<Statistic> statistics) {
        for (Statistic statistic : statistics) {
            properties.set(statistic.label(), orNull(simple("number")).put("description", statistic.help()));
        }
    }

    private static ObjectNode described(ObjectNode schema, AnnotatedElement of) {
        JsonPropertyDescription text = of.getAnnotation(JsonPropertyDescription.class);
        return text == null ? schema : schema.put("description", text.value());
    }

    private static void addStatistics(ObjectNode properties) {
        List.of("rows", "dimension", "rank").forEach(name -> properties.set(name, simple("integer")));
        addNumbers(properties, List.of(Statistic.values()));
        properties.set("davis_kahan_certified", orNull(simple("boolean")));
        ObjectNode angles = simple("array");
        angles.set("items", simple("number"));
        properties.set("principal_angles", orNull(angles));
        properties.set("vacuous", mapOf(simple("boolean")));
        properties.set("undefined", mapOf(simple("string")));
    }

    private ObjectNode of(AnnotatedType type) {
        ObjectNode schema = of(type.getType(), type);
        return type.isAnnotationPresent(Nullable.class) ? orNull(schema) : schema;
    }

    private ObjectNode of(Type type, @Nullable AnnotatedType annotated) {
        if (type instanceof ParameterizedType parameters) {
            List<ObjectNode> arguments = new ArrayList<>();
            for (int i = 0; i < parameters.getActualTypeArguments().length; i++) {
                arguments.add(
                        annotated instanceof AnnotatedParameterizedType known
                                ? of(known.getAnnotatedActualTypeArguments()[i])
                                : of(parameters.getActualTypeArguments()[i], null));
            }
            if (parameters.getRawType() == Map.class) {
                return mapOf(arguments.get(1));
            }
            ObjectNode list = simple("array");
            list.set("items", arguments.get(0));
            return list;
        }
        Class<?> plain = (Class<?>) type;
        if (plain == String.class) {
            return simple("string");
        }
        if (plain == boolean.class || plain == Boolean.class) {
            return simple("boolean");
        }
        if (plain == double.class || plain == Double.class) {
            // What is not finite is written as null.
            return orNull(simple("number"));
        }
        if (plain.isPrimitive() || Number.class.isAssignableFrom(plain)) {
            return simple("integer");
        }
        if (plain.isEnum()) {
            ObjectNode values = simple("string");
            ArrayNode names = values.putArray("enum");
            for (Object constant : plain.getEnumConstants()) {
                names.add(Json.tree(constant));
            }
            return values;
        }
        if (references.containsKey(plain)) {
            return MAPPER.createObjectNode().put("$ref", references.get(plain));
        }
        return plain.isRecord() ? ofRecord(plain) : MAPPER.createObjectNode();
    }

    private static ObjectNode simple(String type) {
        return MAPPER.createObjectNode().put("type", type);
    }

    private static ObjectNode mapOf(ObjectNode values) {
        ObjectNode map = simple("object");
        map.set("additionalProperties", values);
        return map;
    }

    /** Returns the schema of what another may also be null for. */
    private static ObjectNode orNull(ObjectNode schema) {
        if (schema.has("$ref")) {
            ObjectNode either = MAPPER.createObjectNode();
            either.putArray("anyOf").add(schema).add(simple("null"));
            return either;
        }
        JsonNode type = schema.get("type");
        if (type != null && type.isTextual()) {
            schema.putArray("type").add(type.asText()).add("null");
            if (schema.get("enum") instanceof ArrayNode values) {
                values.addNull();
            }
        }
        return schema;
    }
}
