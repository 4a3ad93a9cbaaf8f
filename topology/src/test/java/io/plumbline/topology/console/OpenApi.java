package io.plumbline.topology.console;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.report.JsonSchemas;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SectionKind.Shown;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Describes the API of the console in the form of OpenAPI 3.1, from its routes and its records. */
final class OpenApi {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String SCHEMAS = "#/components/schemas/";

    /** Reports, whose schemas are files of their own beside the description. */
    private static final List<Class<?>> REPORTS =
            List.of(WindowReport.class, ModelReport.class, AdaptationReport.class);

    /** Records that more than one answer holds. */
    private static final List<Class<?>> SHARED = List.of(WindowPoint.class, ConsoleViews.Summary.class);

    private final JsonSchemas schemas;

    private OpenApi() {
        Map<Class<?>, String> references = new HashMap<>();
        REPORTS.forEach(report -> references.put(report, "schemas/" + JsonSchemas.fileName(report)));
        SHARED.forEach(record -> references.put(record, SCHEMAS + record.getSimpleName()));
        schemas = new JsonSchemas(references);
    }

    /** Returns the description as the text of its file. */
    static String text() {
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(new OpenApi().description()) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private ObjectNode description() {
        ObjectNode api = MAPPER.createObjectNode().put("openapi", "3.1.0");
        api.putObject("info")
                .put("title", "Plumbline")
                .put("version", String.valueOf(ConsoleViews.SCHEMA))
                .put(
                        "description",
                        "What a process of Plumbline answers. Only GET and HEAD; nothing here changes anything."
                                + " Keys may be added: pass over those you do not know. An undefined number is null.")
                .putObject("license")
                .put("name", "Apache-2.0")
                .put("identifier", "Apache-2.0");
        ObjectNode server = api.putArray("servers").addObject().put("url", "{address}");
        server.putObject("variables")
                .putObject("address")
                .put("default", "http://127.0.0.1:9464")
                .put("description", "address of the process, or of the proxy before it with its path");
        api.putArray("security").add(MAPPER.createObjectNode()).addObject().putArray("basic");
        ObjectNode paths = api.putObject("paths");
        for (Route route : Route.values()) {
            addRoute(paths, route);
        }
        addText(
                paths,
                "/metrics",
                "every metric",
                "as the client accepts: Prometheus text, OpenMetrics, protocol buffers");
        addText(paths, "/healthz", "whether the process is alive", "ok");
        addText(paths, "/readyz", "whether it does its work", "ok");
        ObjectNode components = api.putObject("components");
        components
                .putObject("securitySchemes")
                .putObject("basic")
                .put("type", "http")
                .put("scheme", "basic");
        ObjectNode records = components.putObject("schemas");
        for (Class<?> record : records()) {
            ObjectNode schema = schemas.ofRecord(record);
            if (record == WindowPoint.class) {
                ObjectNode keys = (ObjectNode) schema.get("properties");
                JsonSchemas.addNumbers(keys, Statistic.shown());
                schemas.addSections(
                        keys,
                        Sections.ALL.stream()
                                .filter(kind -> kind.shown() == Shown.EACH_WINDOW)
                                .toList());
                keys.fieldNames().forEachRemaining(schema.putArray("required")::add);
            }
            records.set(record.getSimpleName(), schema);
        }
        return api;
    }

    private static Set<Class<?>> records() {
        Set<Class<?>> records = new LinkedHashSet<>();
        Stream.of(Route.values()).map(Route::view).flatMap(Stream::ofNullable).forEach(records::add);
        records.addAll(SHARED);
        records.add(ConsoleViews.Problem.class);
        return records;
    }

    private static void addRoute(ObjectNode paths, Route route) {
        ObjectNode get = operation(paths, route.path(), route.summary());
        if (route.path().contains("{site}")) {
            parameter(get, "site", "path", "name of a site, percent-encoded", "string");
        }
        if (route == Route.WINDOWS || route == Route.WINDOWS_CSV) {
            parameter(get, "from_ms", "query", "windows that end at this time or later", "integer");
            parameter(get, "to_ms", "query", "windows that end before this time", "integer");
        }
        if (route == Route.EVENTS) {
            parameter(get, "after", "query", "place of /api/sites, or the id of an event: what came later", "string");
            parameter(get, "Last-Event-ID", "header", "the same, as browsers say it; wins over after", "string");
        }
        ObjectNode responses = get.putObject("responses");
        Class<?> view = route.view();
        ObjectNode schema = content(responses, "200", "what was asked for", route.contentType());
        if (view == null) {
            schema.put("type", "string");
        } else {
            schema.put("$ref", SCHEMAS + view.getSimpleName());
        }
        if (route.path().contains("{site}")) {
            problem(responses, "404", "no site of this name is configured");
        }
        if (route == Route.WINDOWS || route == Route.WINDOWS_CSV) {
            problem(responses, "400", "a time that is no number");
        }
        if (route == Route.EVENTS) {
            problem(responses, "503", "%d browsers follow already".formatted(ConsoleLimits.CLIENTS));
        }
        refused(responses);
    }

    private static void addText(ObjectNode paths, String path, String summary, String answer) {
        ObjectNode responses = operation(paths, path, summary).putObject("responses");
        content(responses, "200", answer, "text/plain").put("type", "string");
        if (path.equals("/metrics")) {
            refused(responses);
        } else {
            content(
                            responses,
                            "503",
                            "a sentence that says why not; who gives no password reads: not ready",
                            "text/plain")
                    .put("type", "string");
        }
    }

    private static ObjectNode operation(ObjectNode paths, String path, String summary) {
        return paths.putObject(path).putObject("get").put("summary", summary);
    }

    private static void parameter(ObjectNode operation, String name, String in, String description, String type) {
        ObjectNode parameter = operation
                .withArray("/parameters")
                .addObject()
                .put("name", name)
                .put("in", in)
                .put("description", description);
        if (in.equals("path")) {
            parameter.put("required", true);
        }
        parameter.putObject("schema").put("type", type);
    }

    private static void problem(ObjectNode responses, String status, String description) {
        content(responses, status, description, "application/json")
                .put("$ref", SCHEMAS + ConsoleViews.Problem.class.getSimpleName());
    }

    private static void refused(ObjectNode responses) {
        content(
                        responses,
                        "default",
                        "a sentence: a password is needed (401), the host has another name (421), too many passwords"
                                + " are looked at (429)",
                        "text/plain")
                .put("type", "string");
    }

    /** Returns the schema of a response, to be filled. */
    private static ObjectNode content(ObjectNode responses, String status, String description, String type) {
        return responses
                .putObject(status)
                .put("description", description)
                .putObject("content")
                .putObject(type)
                .putObject("schema");
    }
}
