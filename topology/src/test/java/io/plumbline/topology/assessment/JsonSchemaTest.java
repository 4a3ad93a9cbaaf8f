package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.Repository;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SectionKind;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WindowReports;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Holds the schemas in docs/reference/schemas to the records that are written. With
 * {@code -Dplumbline.write.documents=true} it writes them anew.
 */
class JsonSchemaTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final SnakeCaseStrategy SNAKE_CASE = new SnakeCaseStrategy();

    @ParameterizedTest
    @ValueSource(classes = {WindowReport.class, ModelReport.class, AdaptationReport.class})
    void theSchemasAreThoseOfTheRecords(Class<?> type) throws IOException {
        Path file = file(type);
        String expected = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(schema(type)) + "\n";
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(file, expected);
        } else {
            assertEquals(
                    expected,
                    Files.readString(file),
                    "run this test with -Dplumbline.write.documents=true and commit the schema");
        }
    }

    /** A report with every section, so that a key that the schema misses or misreads is seen. */
    @Test
    void aReportWithEverySectionIsWhatItsSchemaSays() throws IOException {
        JsonNode report = Json.tree(WindowReports.of(WindowReports.distinctNumbers()));
        String schema = Files.readString(file(WindowReport.class));
        assertEquals(List.of(), errors(schema, report));
        assertEquals(names(MAPPER.readTree(schema).path("properties")), names(report));
        ((ObjectNode) report).put("requests", "twelve");
        assertEquals(1, errors(schema, report).size(), "a text in the place of a number is seen");
    }

    private static List<String> errors(String schema, JsonNode report) {
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(schema)
                .validate(report)
                .stream()
                .map(Object::toString)
                .toList();
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static Path file(Class<?> type) {
        String name = SNAKE_CASE.translate(type.getSimpleName()).replace('_', '-');
        return Repository.path("docs", "reference", "schemas", name + ".schema.json");
    }

    /** Returns the schema of a report: keys that are not there may be added later, and are allowed. */
    private static ObjectNode schema(Class<?> type) {
        ObjectNode schema = MAPPER.createObjectNode()
                .put("$schema", "https://json-schema.org/draft/2020-12/schema")
                .put("title", type.getSimpleName());
        return schema.setAll(ofRecord(type));
    }

    private static ObjectNode ofRecord(Class<?> type) {
        ObjectNode schema = MAPPER.createObjectNode().put("type", "object");
        ObjectNode properties = schema.putObject("properties");
        addKeys(properties, type, "");
        ArrayNode required = schema.putArray("required");
        properties.fieldNames().forEachRemaining(required::add);
        return schema;
    }

    private static void addKeys(ObjectNode properties, Class<?> type, String prefix) {
        for (RecordComponent component : type.getRecordComponents()) {
            JsonUnwrapped group = component.getAccessor().getAnnotation(JsonUnwrapped.class);
            if (group == null) {
                properties.set(
                        prefix + SNAKE_CASE.translate(component.getName()),
                        described(of(component.getAnnotatedType()), component.getAccessor()));
            } else if (component.getType() == Sections.class) {
                for (SectionKind<?> kind : Sections.ALL) {
                    properties.set(
                            kind.key(), orNull(of(kind.valueType(), null)).put("description", kind.help()));
                }
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

    private static ObjectNode described(ObjectNode schema, AnnotatedElement of) {
        JsonPropertyDescription text = of.getAnnotation(JsonPropertyDescription.class);
        return text == null ? schema : schema.put("description", text.value());
    }

    private static void addStatistics(ObjectNode properties) {
        List.of("rows", "dimension", "rank").forEach(name -> properties.set(name, simple("integer")));
        for (Statistic statistic : Statistic.values()) {
            properties.set(statistic.label(), orNull(simple("number")).put("description", statistic.help()));
        }
        properties.set("davis_kahan_certified", orNull(simple("boolean")));
        ObjectNode angles = simple("array");
        angles.set("items", simple("number"));
        properties.set("principal_angles", orNull(angles));
        properties.set("vacuous", mapOf(simple("boolean")));
        properties.set("undefined", mapOf(simple("string")));
    }

    private static ObjectNode of(AnnotatedType type) {
        ObjectNode schema = of(type.getType(), type);
        return type.isAnnotationPresent(Nullable.class) ? orNull(schema) : schema;
    }

    private static ObjectNode of(Type type, @Nullable AnnotatedType annotated) {
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

    private static ObjectNode orNull(ObjectNode schema) {
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
