package io.plumbline.topology.evidence;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.plumbline.topology.emission.RecordSignature;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.wire.Sha256;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Checks a file of evidence, from its first line to its last.
 *
 * @param lines how many are as they were written, the summary among them
 * @param problem the first line that is not, and why; null: all are
 * @param signer id of the key that the summary names; null: it is not signed
 */
public record EvidenceCheck(
        int lines, @Nullable String problem, @Nullable String signer) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Reads a file.
     *
     * @param keys one of them must have signed it; null: whoever did, or nobody
     */
    public static EvidenceCheck of(Path file, @Nullable TrustedKeys keys) throws IOException {
        String before = null;
        int number = 0;
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String problem = problem(line, number + 1, before);
                if (problem != null) {
                    return new EvidenceCheck(number, problem, null);
                }
                before = line;
                number++;
            }
        } catch (MalformedInputException notText) {
            return new EvidenceCheck(number, "line %d is no UTF-8".formatted(number + 1), null);
        }
        return summary(before == null ? "" : before, number, keys);
    }

    private static @Nullable String problem(String line, int number, @Nullable String before) {
        JsonNode json = json(line);
        if (before != null && json(before).path("kind").asText().equals(EvidenceWriter.SUMMARY)) {
            return "line %d stands behind the summary".formatted(number);
        }
        if (json.path("line").asInt() != number) {
            return "line %d says that it is line %s: lines were removed, put in or moved"
                    .formatted(number, json.path("line").asText("?"));
        }
        String hash = before == null ? EvidenceWriter.FIRST : Sha256.of(before);
        if (!json.path("previous").asText().equals(hash)) {
            return number == 1
                    ? "line 1 is not the first that was written"
                    : "line %d is not the one that line %d was written behind".formatted(number - 1, number);
        }
        return null;
    }

    private static EvidenceCheck summary(String last, int lines, @Nullable TrustedKeys keys) {
        JsonNode json = json(last);
        int at = last.lastIndexOf(EvidenceWriter.SIGNATURE);
        if (!json.path("kind").asText().equals(EvidenceWriter.SUMMARY)
                || json.path("lines").asInt() != lines - 1
                || at < 0) {
            return new EvidenceCheck(lines, "line %d is no summary: the end is missing".formatted(lines), null);
        }
        byte[] signed = null;
        try {
            String text = json.path("signature").asText();
            signed = text.isEmpty() ? null : HexFormat.of().parseHex(text);
        } catch (IllegalArgumentException noSignature) {
            signed = new byte[0];
        }
        // What is signed is the text before the signature: a field of that name before would change nothing.
        RecordSignature signature = RecordSignature.ofEvidence(EvidenceWriter.utf8(last.substring(0, at)), signed);
        String refusal = keys == null ? null : signature.refusal(keys);
        String end = EvidenceWriter.SIGNATURE + json.path("signature").asText() + EvidenceWriter.END;
        if (refusal == null && !last.substring(at).equals(end)) {
            refusal = "something stands behind its signature";
        }
        return new EvidenceCheck(
                lines,
                refusal == null ? null : "line %d, the summary: %s".formatted(lines, refusal),
                signature.keyId());
    }

    private static JsonNode json(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException notJson) {
            return MissingNode.getInstance();
        }
    }
}
