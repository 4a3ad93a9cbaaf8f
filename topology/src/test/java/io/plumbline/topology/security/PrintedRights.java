package io.plumbline.topology.security;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.Shell;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** Reads what {@code plumbline topics --acl} prints as {@code kafka-acls.sh} would. */
final class PrintedRights {

    private PrintedRights() {}

    static List<AclBinding> of(Path config, String role, String principal, String... more) {
        List<Object> words = new ArrayList<>(
                List.of("topics", "--config", config, "--acl", "--role", role, "--principal", principal));
        words.addAll(List.of(more));
        Shell shell = Shell.run(words.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        List<AclBinding> rights = new ArrayList<>();
        for (String line : shell.out().lines().toList()) {
            if (!line.startsWith("#")) {
                rights.addAll(read(line));
            }
        }
        assertTrue(!rights.isEmpty(), shell.out());
        return rights;
    }

    private static List<AclBinding> read(String line) {
        List<String> words = new ArrayList<>(Arrays.asList(line.split(" ", -1)));
        assertEquals("kafka-acls.sh", words.remove(0), line);
        assertTrue(words.remove("--add"), line);
        ResourceType type = null;
        String name = null;
        String principal = null;
        PatternType pattern = PatternType.LITERAL;
        List<AclOperation> operations = new ArrayList<>();
        for (int i = 0; i < words.size(); i += 2) {
            String value = words.get(i + 1);
            switch (words.get(i)) {
                case "--bootstrap-server", "--command-config" -> {}
                case "--allow-principal" -> principal = value;
                case "--operation" -> operations.add(operation(value));
                case "--resource-pattern-type" -> pattern = PatternType.valueOf(value.toUpperCase(Locale.ROOT));
                case "--topic", "--group", "--transactional-id" -> {
                    type = ResourceType.valueOf(
                            words.get(i).substring(2).replace('-', '_').toUpperCase(Locale.ROOT));
                    name = value;
                }
                default -> throw new AssertionError(words.get(i) + " in " + line);
            }
        }
        List<AclBinding> rights = new ArrayList<>();
        for (AclOperation operation : operations) {
            rights.add(new AclBinding(
                    new ResourcePattern(type, name, pattern),
                    new AccessControlEntry(principal, "*", operation, AclPermissionType.ALLOW)));
        }
        return rights;
    }

    private static AclOperation operation(String typed) {
        for (AclOperation operation : AclOperation.values()) {
            if (operation.name().replace("_", "").equalsIgnoreCase(typed)) {
                return operation;
            }
        }
        throw new AssertionError("no operation " + typed);
    }
}
