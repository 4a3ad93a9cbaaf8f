package io.plumbline.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.plumbline.wire.SafetensorsException.Fault;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The checked header of a safetensors blob.
 *
 * <pre>
 * bytes 0 .. 7      header length H, unsigned 64-bit little-endian, at most 100 000 000
 * bytes 8 .. 7+H    JSON object in UTF-8, padded with spaces:
 *                   {"name": {"dtype": "F32", "shape": [768, 16384], "data_offsets": [begin, end]}, ...,
 *                    "__metadata__": {"key": "value", ...}}
 * bytes 8+H ..      the tensors, without gap or overlap; offsets count from here
 * </pre>
 *
 * <p>Duplicate names are looked for here rather than with Jackson's strict detection, whose complaint can only be told
 * from a syntax error by its wording.
 */
final class SafetensorsHeader {

    static final int LENGTH_BYTES = 8;
    static final long LONGEST_HEADER = 100_000_000L;
    static final String METADATA = "__metadata__";

    /** The header of no tensors. */
    static final SafetensorsHeader NONE = new SafetensorsHeader();

    private static final JsonFactory JSON = new JsonFactory();

    private final Map<String, TensorEntry> entries = new LinkedHashMap<>();
    private @Nullable Map<String, String> metadata;

    private SafetensorsHeader() {}

    Map<String, TensorEntry> entries() {
        return Collections.unmodifiableMap(entries);
    }

    Map<String, String> metadata() {
        return metadata == null ? Map.of() : Collections.unmodifiableMap(metadata);
    }

    /**
     * Returns the header length, checked against a cap and the size of the whole blob before anything is allocated by
     * it.
     */
    static int checkedLength(long stated, long blobBytes, long longest) {
        if (stated < 0 || stated > longest) {
            throw new SafetensorsException(
                    Fault.HEADER_TOO_LONG,
                    "the header claims %s bytes; %s %d (at byte 0)"
                            .formatted(
                                    Long.toUnsignedString(stated),
                                    longest == LONGEST_HEADER ? "the format allows" : "here at most",
                                    longest));
        }
        if (stated > blobBytes - LENGTH_BYTES) {
            throw new SafetensorsException(
                    Fault.TRUNCATED,
                    "the header claims %d bytes, the blob has %d after the length field (at byte 0)"
                            .formatted(stated, blobBytes - LENGTH_BYTES));
        }
        return (int) stated;
    }

    static void requireLengthField(long blobBytes) {
        if (blobBytes < LENGTH_BYTES) {
            throw new SafetensorsException(
                    Fault.TRUNCATED,
                    "%d bytes; a safetensors blob begins with a header length of 8 bytes (at byte 0)"
                            .formatted(blobBytes));
        }
    }

    /** Parses the JSON and proves that the entries tile exactly {@code dataBytes} bytes. */
    static SafetensorsHeader parse(byte[] json, long dataBytes) {
        // A second byte of 0 would make Jackson take the text for UTF-16, which the format does not allow.
        if (json.length < 2 || json[0] != '{' || json[1] == 0) {
            throw new SafetensorsException(
                    Fault.BAD_JSON, "the header is not a JSON object in UTF-8: it must begin with '{' (at byte 8)");
        }
        SafetensorsHeader header = new SafetensorsHeader();
        try (JsonParser parser = JSON.createParser(json)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                header.readMember(parser);
            }
            if (parser.nextToken() != null) {
                throw badJson(parser, "text after the closing brace");
            }
        } catch (JsonProcessingException e) {
            long place =
                    e.getLocation() == null ? 0 : Math.max(0, e.getLocation().getByteOffset());
            throw new SafetensorsException(
                    Fault.BAD_JSON,
                    "the header: %s (at byte %d)".formatted(Syntax.JSON.what(e), LENGTH_BYTES + place),
                    e);
        } catch (IOException e) {
            throw new SafetensorsException(
                    Fault.BAD_JSON, "the header cannot be decoded: " + e.getMessage() + " (at byte 8)", e);
        }
        header.checkTiling(dataBytes);
        return header;
    }

    private void readMember(JsonParser parser) throws IOException {
        String name = parser.currentName();
        long place = place(parser);
        if (name.equals(METADATA)) {
            readMetadata(parser);
            return;
        }
        if (entries.containsKey(name)) {
            throw duplicate("tensor \"" + name + "\"", place);
        }
        entries.put(name, readEntry(parser, name, place));
    }

    private void readMetadata(JsonParser parser) throws IOException {
        requireFirst(metadata, METADATA, place(parser));
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw badJson(parser, METADATA + " is not an object of strings");
        }
        Map<String, String> read = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            long place = place(parser);
            if (parser.nextToken() != JsonToken.VALUE_STRING) {
                throw badJson(parser, METADATA + " key \"" + key + "\" is not a string");
            }
            if (read.put(key, parser.getText()) != null) {
                throw duplicate(METADATA + " key \"" + key + "\"", place);
            }
        }
        metadata = read;
    }

    private static TensorEntry readEntry(JsonParser parser, String name, long place) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw badJson(parser, "tensor \"" + name + "\" is not an object");
        }
        DType dtype = null;
        List<Long> shape = null;
        List<Long> offsets = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            String what = "tensor \"" + name + "\": " + key;
            switch (key) {
                case "dtype" -> {
                    requireFirst(dtype, what, place(parser));
                    dtype = readDType(parser, name);
                }
                case "shape" -> {
                    requireFirst(shape, what, place(parser));
                    shape = readSizes(parser, what);
                }
                case "data_offsets" -> {
                    requireFirst(offsets, what, place(parser));
                    offsets = readSizes(parser, what);
                }
                default ->
                    throw badJson(
                            parser,
                            "tensor \"" + name + "\": unknown key \"" + key
                                    + "\"; expected dtype, shape, data_offsets");
            }
        }
        if (dtype == null || shape == null || offsets == null || offsets.size() != 2) {
            throw new SafetensorsException(
                    Fault.BAD_JSON,
                    "tensor \"%s\": an entry needs dtype, shape and two data_offsets (at byte %d)"
                            .formatted(name, place));
        }
        return new TensorEntry(name, dtype, List.copyOf(shape), offsets.get(0), offsets.get(1), place);
    }

    private static DType readDType(JsonParser parser, String name) throws IOException {
        if (parser.nextToken() != JsonToken.VALUE_STRING) {
            throw badJson(parser, "tensor \"" + name + "\": dtype is not a string");
        }
        String dtype = parser.getText();
        for (DType known : DType.values()) {
            if (known.name().equals(dtype)) {
                return known;
            }
        }
        throw new SafetensorsException(
                Fault.UNKNOWN_DTYPE,
                "tensor \"%s\": dtype \"%s\"; supported are F64, F32, F16, BF16, I64, I32 (at byte %d)"
                        .formatted(name, dtype, place(parser)));
    }

    private static List<Long> readSizes(JsonParser parser, String what) throws IOException {
        if (parser.nextToken() != JsonToken.START_ARRAY) {
            throw badJson(parser, what + " is not an array");
        }
        List<Long> sizes = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
                throw badJson(parser, what + " holds something that is not a whole number");
            }
            if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER || parser.getLongValue() < 0) {
                throw new SafetensorsException(
                        Fault.OVERFLOW,
                        "%s: %s is not in 0 .. %d (at byte %d)"
                                .formatted(what, parser.getText(), Long.MAX_VALUE, place(parser)));
            }
            sizes.add(parser.getLongValue());
        }
        return sizes;
    }

    private void checkTiling(long dataBytes) {
        List<TensorEntry> inOrder = new ArrayList<>(entries.values());
        inOrder.sort(Comparator.comparingLong(TensorEntry::begin).thenComparingLong(TensorEntry::end));
        long covered = 0;
        for (TensorEntry entry : inOrder) {
            checkShape(entry);
            if (entry.begin() != covered) {
                boolean overlap = entry.begin() < covered;
                throw new SafetensorsException(
                        overlap ? Fault.OVERLAP : Fault.HOLE,
                        "%s begins at %d, the tensors before it end at %d: the bytes between %s (at byte %d)"
                                .formatted(
                                        entry,
                                        entry.begin(),
                                        covered,
                                        overlap ? "belong to two tensors" : "belong to none",
                                        entry.place()));
            }
            covered = entry.end();
            if (covered > dataBytes) {
                throw new SafetensorsException(
                        Fault.TRUNCATED,
                        "%s ends at %d, the blob has %d bytes after its header (at byte %d)"
                                .formatted(entry, covered, dataBytes, entry.place()));
            }
        }
        if (covered < dataBytes) {
            throw new SafetensorsException(
                    Fault.TRAILING_BYTES,
                    "the tensors end at %d, the blob has %d bytes after its header".formatted(covered, dataBytes));
        }
    }

    private static void checkShape(TensorEntry entry) {
        long needed = entry.dtype().bytes();
        try {
            for (long size : entry.shape()) {
                needed = Math.multiplyExact(needed, size);
            }
        } catch (ArithmeticException e) {
            throw new SafetensorsException(
                    Fault.OVERFLOW,
                    "%s: shape %s of %s needs more than %d bytes (at byte %d)"
                            .formatted(entry, entry.shape(), entry.dtype(), Long.MAX_VALUE, entry.place()),
                    e);
        }
        // Both offsets are in 0 .. 2^63-1, so the difference cannot overflow; it is negative when they run backwards.
        if (needed != entry.bytes()) {
            throw new SafetensorsException(
                    Fault.SHAPE_AGAINST_BYTES,
                    "%s: shape %s of %s needs %d bytes, data_offsets span %d (at byte %d)"
                            .formatted(entry, entry.shape(), entry.dtype(), needed, entry.bytes(), entry.place()));
        }
    }

    private static void requireFirst(@Nullable Object earlier, String what, long place) {
        if (earlier != null) {
            throw duplicate(what, place);
        }
    }

    private static SafetensorsException duplicate(String what, long place) {
        return new SafetensorsException(
                Fault.DUPLICATE_KEY, "%s stands twice in the header (at byte %d)".formatted(what, place));
    }

    private static SafetensorsException badJson(JsonParser parser, String what) {
        return new SafetensorsException(Fault.BAD_JSON, "%s (at byte %d)".formatted(what, place(parser)));
    }

    private static long place(JsonParser parser) {
        return LENGTH_BYTES + parser.currentTokenLocation().getByteOffset();
    }
}
