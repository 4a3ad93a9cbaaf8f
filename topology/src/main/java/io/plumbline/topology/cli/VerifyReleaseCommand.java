package io.plumbline.topology.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.plumbline.judgement.Amounts;
import io.plumbline.wire.PemKey;
import io.plumbline.wire.Printable;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline verify-release}: whether the files of a release are those that were made. */
@Command(
        name = "verify-release",
        mixinStandardHelpOptions = true,
        description = {
            "Compares the files of a release with its SHA256SUMS and its provenance.json, which must name the same"
                    + " ones, and with --key the signature of SHA256SUMS.",
            "",
            "Without --key it tells a damaged copy from a whole one, and not whose it is: the sums come from the same"
                    + " place as the files. Exit code 1 where something differs."
        },
        footer = "  plumbline verify-release plumbline-0.1.0/ --key release-key.pem")
public final class VerifyReleaseCommand implements Callable<Integer> {

    private static final String SUMS = "SHA256SUMS";
    private static final String SIGNATURE = "SHA256SUMS.sig";
    private static final String PROVENANCE = "provenance.json";
    private static final Pattern LINE = Pattern.compile("([0-9a-f]{64})  (\\S.*)");

    @Parameters(paramLabel = "DIR", description = "The folder of the release, with all its files.")
    Path folder;

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "The public key of whoever made it, Ed25519 in PEM, from another place than the release.")
    @Nullable
    Path key;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (!Files.isRegularFile(folder.resolve(SUMS))) {
            throw new UsageException("%s: expected the folder of a release, with %s in it".formatted(folder, SUMS));
        }
        folder = folder.toRealPath(); // it may be named by a link; links in it stay differences
        Map<String, String> told = told();
        Map<String, String> found = found();
        int wrong = differences("is not in " + SUMS, "is missing", told, found);
        JsonNode source = MissingNode.getInstance();
        Map<String, String> withoutStatement = new TreeMap<>(told);
        if (withoutStatement.remove(PROVENANCE) == null) {
            wrong += wrong(PROVENANCE, "is not in " + SUMS);
        } else if (found.containsKey(PROVENANCE)) {
            JsonNode statement = statement();
            wrong += differences(
                    "is not in " + PROVENANCE, "is in it and not in " + SUMS, subjects(statement), withoutStatement);
            source = statement.at("/predicate/buildDefinition/resolvedDependencies/0");
        }
        if (key == null) {
            print("the signature was not checked: name the key with --key");
        } else if (isSigned(key)) {
            print("signed with " + key);
        } else {
            wrong += wrong(SIGNATURE, "is missing, or of another key or list than " + key);
        }
        // Last, and only of what was checked: an altered release could say anything here.
        print(
                wrong == 0
                        ? "%s as they were made, from %s, commit %s"
                                .formatted(
                                        Amounts.count(told.size(), "file"),
                                        source.at("/uri").asText("?"),
                                        source.at("/digest/gitCommit").asText("?"))
                        : Amounts.count(wrong, "difference"));
        return wrong == 0 ? ExitCodes.FINE : ExitCodes.DRIFT_FOUND;
    }

    private Map<String, String> told() throws IOException {
        Map<String, String> told = new TreeMap<>();
        for (String line : Files.readAllLines(folder.resolve(SUMS))) {
            Matcher parts = LINE.matcher(line);
            if (!parts.matches()) {
                throw new UsageException("%s: \"%s\" is no line of it; expected a SHA-256, two spaces and a name"
                        .formatted(folder.resolve(SUMS), line));
            }
            told.put(parts.group(2), parts.group(1));
        }
        return told;
    }

    private Map<String, String> found() throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(one -> !Files.isDirectory(one, LinkOption.NOFOLLOW_LINKS))
                    .toList()) {
                String name = folder.relativize(file).toString().replace('\\', '/');
                if (!name.equals(SUMS) && !name.equals(SIGNATURE)) {
                    // A link can lead anywhere later, whatever it leads to now.
                    found.put(name, Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) ? Sha256.of(file) : "no file");
                }
            }
        }
        return found;
    }

    private static Map<String, String> subjects(JsonNode statement) {
        Map<String, String> subjects = new TreeMap<>();
        statement
                .path("subject")
                .forEach(subject -> subjects.put(
                        subject.path("name").asText(),
                        subject.at("/digest/sha256").asText()));
        return subjects;
    }

    private int differences(String more, String less, Map<String, String> told, Map<String, String> found) {
        int wrong = 0;
        for (Map.Entry<String, String> file : found.entrySet()) {
            String expected = told.get(file.getKey());
            if (!file.getValue().equals(expected)) {
                wrong += wrong(file.getKey(), expected == null ? more : "has another SHA-256");
            }
        }
        for (String name : told.keySet()) {
            wrong += found.containsKey(name) ? 0 : wrong(name, less);
        }
        return wrong;
    }

    private JsonNode statement() throws IOException {
        try {
            return new ObjectMapper().readTree(folder.resolve(PROVENANCE).toFile());
        } catch (JsonProcessingException broken) {
            return MissingNode.getInstance();
        }
    }

    private int wrong(String name, String what) {
        print("%s %s".formatted(name, what));
        return 1;
    }

    private void print(String line) {
        spec.commandLine().getOut().println(Printable.of(line));
    }

    private boolean isSigned(Path pem) throws IOException {
        Path signed = folder.resolve(SIGNATURE);
        if (!Files.isRegularFile(signed)) {
            return false;
        }
        PublicKey known = publicKey(pem);
        try {
            Signature signature = Signature.getInstance("Ed25519");
            signature.initVerify(known);
            signature.update(Files.readAllBytes(folder.resolve(SUMS)));
            return signature.verify(Base64.getMimeDecoder().decode(Files.readAllBytes(signed)));
        } catch (GeneralSecurityException | IllegalArgumentException noSignature) {
            return false;
        }
    }

    private static PublicKey publicKey(Path pem) {
        try {
            return PemKey.ofEveryone(pem);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--key = " + refused.getMessage());
        }
    }
}
