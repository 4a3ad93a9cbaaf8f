package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.plumbline.topology.Repository;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.JsonSchemas;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WindowReports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Holds the schemas in docs/reference/schemas to the records that are written. With
 * {@code -Dplumbline.write.documents=true} it writes them anew.
 */
class JsonSchemaTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    @ParameterizedTest
    @ValueSource(classes = {WindowReport.class, ModelReport.class, AdaptationReport.class})
    void theSchemasAreThoseOfTheRecords(Class<?> type) throws IOException {
        Path file = file(type);
        String expected =
                MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(new JsonSchemas(Map.of()).schema(type))
                        + "\n";
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
        return Repository.path("docs", "reference", "schemas", JsonSchemas.fileName(type));
    }
}
