package io.plumbline.topology.evidence;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.ProgramVersion;
import io.plumbline.topology.config.ReadConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.emission.ApprovedBaseline;
import io.plumbline.topology.emission.RecordSignature;
import io.plumbline.topology.emission.SignedCommands;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Gathers evidence from a configuration, the files it names and the topics. One thread. */
public final class EvidenceSources {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String UNREADABLE = "unreadable";

    private final MonitorConfig config;
    private final SignedCommands approvers;
    private final @Nullable TrustedKeys trusted;
    private final LongPredicate period;
    private final EvidenceWriter writer;
    private final Map<Path, String> hashes = new HashMap<>();
    private final Map<String, List<Long>> read = new HashMap<>();

    /** Time of the first record of the topic of the configuration; null: none is read yet. */
    private @Nullable Long configurationMs;

    /** @param period holds the ends of the windows, and the times of commands and answers, that are wanted, ms */
    public EvidenceSources(MonitorConfig config, LongPredicate period, EvidenceWriter writer) {
        this.config = config;
        approvers = new SignedCommands(config.signing().approverKeys());
        trusted = config.signing().keys();
        this.period = period;
        this.writer = writer;
    }

    /** Writes the program's version, the configuration with its secrets hidden, and the files of every site. */
    public void addConfiguration(Path file) throws IOException {
        writer.add(
                "configuration",
                Map.of(
                        "written", Instant.now().toString(),
                        "program", ProgramVersion.number(),
                        "sha256", Sha256.of(file),
                        "effective", ReadConfig.of(file).yaml()));
        for (SiteSettings site : config.sites().values()) {
            Map<String, String> files = new TreeMap<>();
            addBaseline(site.explained().baseline(), files);
            if (site.explained().hasExplainer()) {
                addFiles(site.explained().explainer(), files);
            }
            SiteSettings.Candidate candidate = site.explained().candidate();
            if (candidate != null) {
                addBaseline(candidate.baseline(), files);
                addFiles(candidate.explainer(), files);
            }
            writer.add("files", Map.of("site", site.site(), "sha256", files));
        }
    }

    private void addBaseline(@Nullable Path baseline, Map<String, String> files) throws IOException {
        if (baseline != null) {
            addFiles(baseline, files);
            Path approval = ApprovedBaseline.approval(baseline);
            if (Files.isRegularFile(approval)) {
                addFiles(approval, files);
            }
        }
    }

    private void addFiles(Path path, Map<String, String> files) throws IOException {
        try (Stream<Path> all = Files.walk(path, FileVisitOption.FOLLOW_LINKS)) {
            List<Path> found = all.filter(Files::isRegularFile).toList();
            if (found.isEmpty()) {
                throw new IOException("%s holds no file that a hash could name".formatted(path));
            }
            for (Path one : found) {
                String known = hashes.get(one);
                String hash = known == null ? Sha256.of(one) : known;
                hashes.put(one, hash);
                files.put(one.toString(), hash);
            }
        }
    }

    /**
     * Writes the windows, what the adapter answered, commands as far as they are kept, all decoders and all versions of
     * the configuration.
     *
     * @throws IllegalStateException when a topic gives nothing for a minute
     */
    public void addTopics() throws IOException {
        TopicNames topics = config.topics();
        try {
            for (String topic : List.of(
                    topics.windowReports(),
                    topics.adaptationRequests(),
                    topics.adaptationReports(),
                    topics.decoders(),
                    topics.configuration())) {
                read(topic);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Returns the first offset that was read of each partition, and the one before which reading stopped. */
    public Map<String, List<Long>> read() {
        return new TreeMap<>(read);
    }

    private void read(String topic) {
        try (TopicReader reader =
                TopicReader.open(config.subscriberProperties(), Map.of("auto.offset.reset", "earliest"))) {
            reader.assign(reader.partitions(topic));
            reader.begin()
                    .forEach((partition, first) -> read.put(
                            partition.toString(), List.of(first, reader.end().getOrDefault(partition, first))));
            reader.toEnd("nothing was written, run it again", record -> {
                try {
                    add(record);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private void add(ConsumerRecord<byte[], byte[]> record) throws IOException {
        TopicNames topics = config.topics();
        if (record.topic().equals(topics.configuration()) && configurationMs == null) {
            configurationMs = record.timestamp();
        }
        if (record.value() == null) {
            return;
        }
        if (record.topic().equals(topics.adaptationRequests())) {
            addCommand(record);
        } else if (record.topic().equals(topics.configuration())) {
            addVersion(record, configurationMs == null ? record.timestamp() : configurationMs);
        } else if (json(record.value()) instanceof ObjectNode report) {
            boolean isDecoder = record.topic().equals(topics.decoders());
            if (isDecoder && report.has("parent_sha256")) {
                addDecoder(record, report);
            } else if (!isDecoder && period.test(time(record, report))) {
                addReport(record, report);
            }
        }
    }

    /** Returns when a window ended, or when the adapter answered a person: such a report may name no window. */
    private static long time(ConsumerRecord<byte[], byte[]> record, ObjectNode report) {
        long endMs = report.path("window_end_ms").asLong();
        return endMs == 0 || record.headers().lastHeader(AdapterAnswer.COMMAND_HEADER) != null
                ? record.timestamp()
                : endMs;
    }

    /** Writes the plain values of a report, and its statistics or what the gate found: the rest is under its hash. */
    private void addReport(ConsumerRecord<byte[], byte[]> record, ObjectNode report) throws IOException {
        Map<String, Object> line = place(record);
        Header command = record.headers().lastHeader(AdapterAnswer.COMMAND_HEADER);
        if (command != null) {
            line.put("command", text(command.value()));
        }
        Map<String, JsonNode> values = new LinkedHashMap<>();
        report.properties().forEach(field -> {
            if (field.getValue().isValueNode() || List.of("statistics", "gate").contains(field.getKey())) {
                values.put(field.getKey(), field.getValue());
            }
        });
        line.put("report", values);
        String kind = record.topic().equals(config.topics().adaptationReports())
                ? "adaptation"
                : record.headers().lastHeader(ModelReport.HEADER) != null
                        ? "model"
                        : record.headers().lastHeader(TargetsReport.HEADER) != null ? "targets" : "window";
        write(kind, record, line);
    }

    /** Writes a line about a record, or its place and hash alone where what it holds cannot be written. */
    private void write(String kind, ConsumerRecord<byte[], byte[]> record, Map<String, ?> line) throws IOException {
        try {
            writer.add(kind, line);
        } catch (JsonProcessingException foreign) {
            Map<String, Object> place = place(record);
            place.put(UNREADABLE, true);
            writer.add(kind, place);
        }
    }

    private void addCommand(ConsumerRecord<byte[], byte[]> record) throws IOException {
        AdaptationMessage message;
        try {
            message = AdaptationMessage.decode(record.value());
        } catch (IllegalArgumentException foreign) {
            return;
        }
        if (message instanceof AdaptationMessage.Command command && period.test(command.windowEndMs())) {
            String site = text(record.key());
            boolean checks = !config.signing().approverKeys().isEmpty();
            AdaptationMessage.Command known = approvers.known(site, command);
            Map<String, Object> line = place(record);
            line.put("site", site);
            line.put("verb", command.verb().toString());
            line.put("version", command.version());
            line.put("typed", Instant.ofEpochMilli(command.windowEndMs()).toString());
            line.put("command", command.id());
            line.put("by", command.by());
            line.put("signature", command.signature());
            line.put("approver", checks && !command.signature().isEmpty() && known != null ? known.by() : "");
            writer.add("command", line);
        }
    }

    private void addDecoder(ConsumerRecord<byte[], byte[]> record, ObjectNode manifest) throws IOException {
        RecordSignature signature = RecordSignature.of(record);
        Map<String, Object> line = place(record);
        line.put("manifest", manifest);
        line.put("key", signature.keyId() == null ? "" : signature.keyId());
        line.put(
                "signature",
                signature.keyId() == null
                        ? "unsigned"
                        : trusted == null
                                ? "not checked"
                                : signature.refusal(trusted) == null ? "trusted" : signature.refusal(trusted));
        write("decoder", record, line);
    }

    private void addVersion(ConsumerRecord<byte[], byte[]> record, long firstRecordMs) throws IOException {
        Map<String, Object> line = place(record);
        try {
            line.put("version", Json.tree(ConfigVersion.of(record, firstRecordMs)));
        } catch (IllegalArgumentException foreign) {
            line.put(UNREADABLE, true);
        }
        writer.add("version", line);
    }

    private static Map<String, Object> place(ConsumerRecord<byte[], byte[]> record) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("topic", record.topic());
        line.put("partition", record.partition());
        line.put("offset", record.offset());
        line.put("sha256", Sha256.of(record.value()));
        return line;
    }

    private static String text(byte @Nullable [] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    private static JsonNode json(byte[] value) {
        try {
            return JSON.readTree(text(value));
        } catch (JsonProcessingException notJson) {
            return MissingNode.getInstance();
        }
    }
}
