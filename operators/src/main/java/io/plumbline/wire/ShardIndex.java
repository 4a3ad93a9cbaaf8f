package io.plumbline.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.wire.SafetensorsException.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The index of tensors that lie in several files, as Hugging Face's libraries write it: {@code {"metadata":
 * {"total_size": BYTES}, "weight_map": {"W_enc": "model-00001-of-00002.safetensors", ...}}}.
 *
 * <p>Every shard must be there and hold exactly the tensors that the index gives it, each tensor lies in one shard, and
 * all bytes together are the total, where the index has one.
 */
final class ShardIndex {

    private static final JsonMapper JSON = new JsonMapper();
    private static final long LARGEST_BYTES = 1 << 26;

    private final Path file;
    private final Map<String, String> shardOf = new LinkedHashMap<>();
    private final JsonNode total;

    private ShardIndex(Path file, JsonNode index) {
        this.file = file;
        this.total = index.path("metadata").path("total_size");
        for (Map.Entry<String, JsonNode> entry : index.path("weight_map").properties()) {
            String shard = entry.getValue().asText();
            if (!shard.equals(String.valueOf(Path.of(shard).getFileName())) || !shard.endsWith(".safetensors")) {
                throw refused(
                        Fault.BAD_JSON,
                        "tensor \"%s\" lies in \"%s\": expected the name of a .safetensors file beside the index"
                                .formatted(entry.getKey(), shard));
            }
            shardOf.put(entry.getKey(), shard);
        }
        if (shardOf.isEmpty()) {
            throw refused(Fault.BAD_JSON, "no weight_map: expected the name of a file for each tensor");
        }
    }

    static ShardIndex read(Path file) throws IOException {
        if (Files.size(file) > LARGEST_BYTES) {
            throw new SafetensorsException(Fault.BAD_JSON, "%s: larger than an index can be".formatted(file));
        }
        try {
            return new ShardIndex(file, JSON.readTree(TextFile.read(file)));
        } catch (JsonProcessingException broken) {
            throw new SafetensorsException(Fault.BAD_JSON, "%s: %s".formatted(file, Syntax.JSON.fault(broken)), broken);
        }
    }

    /** Opens every shard; returns the one of each tensor, in the order of the index. */
    Map<String, Safetensors> open() throws IOException {
        Map<String, Safetensors> opened = new LinkedHashMap<>();
        try {
            for (String shard : new LinkedHashSet<>(shardOf.values())) {
                Path path = file.resolveSibling(shard);
                if (!Files.isRegularFile(path)) {
                    throw refused(
                            Fault.MISSING_SHARD,
                            "%s is missing, one of the files of its tensors; copy all of them: %s"
                                    .formatted(path, new LinkedHashSet<>(shardOf.values())));
                }
                opened.put(shard, Safetensors.open(path));
            }
            requireAll(opened);
        } catch (IOException | RuntimeException broken) {
            for (Safetensors shard : opened.values()) {
                shard.close();
            }
            throw broken;
        }
        Map<String, Safetensors> byTensor = new LinkedHashMap<>();
        for (Map.Entry<String, String> entry : shardOf.entrySet()) {
            Safetensors shard = opened.get(entry.getValue());
            if (shard != null) {
                byTensor.put(entry.getKey(), shard);
            }
        }
        return byTensor;
    }

    private void requireAll(Map<String, Safetensors> opened) {
        long bytes = 0;
        Set<String> found = new LinkedHashSet<>();
        for (Map.Entry<String, Safetensors> shard : opened.entrySet()) {
            for (String tensor : shard.getValue().names()) {
                if (!shard.getKey().equals(shardOf.get(tensor))) {
                    throw refused(
                            Fault.MISSING_TENSOR,
                            ("%s holds the tensor \"%s\", which the index says is in %s; "
                                            + "copy the index and all its files again")
                                    .formatted(shard.getKey(), tensor, shardOf.getOrDefault(tensor, "none")));
                }
                found.add(tensor);
                bytes += shard.getValue().bytes(tensor);
            }
        }
        for (Map.Entry<String, String> entry : shardOf.entrySet()) {
            if (!found.contains(entry.getKey())) {
                throw refused(
                        Fault.MISSING_TENSOR,
                        ("the tensor \"%s\" is not in %s, where the index says it is; "
                                        + "copy the index and all its files again")
                                .formatted(entry.getKey(), entry.getValue()));
            }
        }
        if (total.isIntegralNumber() && total.longValue() != bytes) {
            throw refused(
                    Fault.SHAPE_AGAINST_BYTES,
                    "its tensors have %d bytes, total_size says %d; copy the index and all its files again"
                            .formatted(bytes, total.longValue()));
        }
    }

    private SafetensorsException refused(Fault fault, String what) {
        return new SafetensorsException(fault, "%s: %s".formatted(file, what));
    }
}
