package io.plumbline.topology.evidence;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Writes lines that are chained by their hashes. One thread. */
public final class EvidenceWriter {

    static final String FIRST = "0".repeat(64);
    static final String SUMMARY = "summary";
    static final String SIGNATURE = ",\"signature\":\"";
    static final String END = "\"}";

    private static final ObjectMapper JSON = new ObjectMapper();

    private final OutputStream out;
    private final Map<String, Integer> kinds = new TreeMap<>();
    private String previous = FIRST;
    private int lines;

    public EvidenceWriter(OutputStream out) {
        this.out = out;
    }

    /**
     * Writes one line.
     *
     * @throws JsonProcessingException when the content is nested too deep for a reader of JSON; nothing is written
     */
    public void add(String kind, Map<String, ?> content) throws IOException {
        write(text(kind, content));
        kinds.merge(kind, 1, Integer::sum);
    }

    /**
     * Writes the last line.
     *
     * @param scope what the lines before were taken from
     * @param signer null: nobody signs
     * @return how many lines there are of each kind, without the last
     */
    public Map<String, Integer> finish(Map<String, ?> scope, @Nullable DecoderSigner signer) throws IOException {
        Map<String, Object> content = new LinkedHashMap<>(scope);
        content.put("lines", lines);
        content.put("kinds", kinds);
        String summary = text(SUMMARY, content);
        String signed = summary.substring(0, summary.length() - 1);
        String signature = signer == null ? "" : HexFormat.of().formatHex(signer.signEvidence(utf8(signed)));
        write(signed + SIGNATURE + signature + END);
        return new TreeMap<>(kinds);
    }

    private String text(String kind, Map<String, ?> content) throws JsonProcessingException {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("line", lines + 1);
        line.put("previous", previous);
        line.put("kind", kind);
        line.putAll(content);
        return JSON.writeValueAsString(line);
    }

    private void write(String line) throws IOException {
        byte[] bytes = utf8(line);
        out.write(bytes);
        out.write('\n');
        previous = Sha256.of(bytes);
        lines++;
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
