package io.plumbline.topology.broker;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Grants operations on one resource of a broker. READ and WRITE include DESCRIBE, so that is named only where it stands
 * alone.
 *
 * @param pattern LITERAL, or PREFIXED where Kafka Streams chooses the rest of the name
 */
public record Grant(ResourceType type, String name, PatternType pattern, Set<AclOperation> operations) {

    private static final Pattern PLAIN = Pattern.compile("[a-zA-Z0-9._:@%+=,/-]+");

    private static final Map<ResourceType, String> OPTIONS = Map.of(
            ResourceType.TOPIC, "--topic",
            ResourceType.GROUP, "--group",
            ResourceType.TRANSACTIONAL_ID, "--transactional-id");

    public Grant {
        operations = Set.copyOf(operations);
    }

    static Grant on(ResourceType type, String name, AclOperation... operations) {
        return new Grant(type, name, PatternType.LITERAL, Set.of(operations));
    }

    /** The command of Kafka's own tool that gives it to {@code principal}. */
    public String command(String bootstrapServers, String commandConfig, String principal) {
        List<String> names =
                new TreeSet<>(operations).stream().map(Grant::asTyped).toList();
        return ("kafka-acls.sh --bootstrap-server %s --command-config %s --add --allow-principal %s --operation %s %s "
                        + "%s%s")
                .formatted(
                        quoted(bootstrapServers),
                        quoted(commandConfig),
                        quoted(principal),
                        String.join(" --operation ", names),
                        OPTIONS.get(type),
                        name,
                        pattern == PatternType.PREFIXED ? " --resource-pattern-type prefixed" : "");
    }

    /** Returns the grant in words: {@code READ, WRITE on topic "decoders"}. */
    @Override
    public String toString() {
        return "%s on %s %s\"%s\""
                .formatted(
                        new TreeSet<>(operations)
                                .stream().map(AclOperation::name).collect(Collectors.joining(", ")),
                        type.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        pattern == PatternType.PREFIXED ? "prefix " : "",
                        name);
    }

    /** Returns the name as it is typed: READ is typed Read, DESCRIBE_CONFIGS is typed DescribeConfigs. */
    private static String asTyped(AclOperation operation) {
        StringBuilder typed = new StringBuilder();
        for (String word : operation.name().split("_", -1)) {
            typed.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return typed.toString();
    }

    /** Quotes a word so that a POSIX shell takes it for one, whatever is in it. */
    public static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
