package io.plumbline.topology.erasure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SplitMix;
import io.plumbline.records.RequestName;
import io.plumbline.wire.Printable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Recognises one request in the bytes of records: by its name as producers send it, as reports cut and print it, and by
 * the hashes that samples and state hold, in either order of bytes. A hash of 64 bits is found by chance in one of
 * {@code 2^61} bytes. A name inside a longer word is another name. One of fewer than {@value #LEAST_BYTES} bytes is
 * looked for in the header {@code request} and in the texts of reports alone. Immutable.
 */
public final class RequestTrace {

    /** The fewest bytes of a name that are looked for anywhere: fewer stand in many records by chance. */
    static final int LEAST_BYTES = 8;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern RECORD = Pattern.compile("[0-9a-f]{16}");

    private final String request;
    private final List<Long> hashes = new ArrayList<>();
    private final List<byte[]> names = new ArrayList<>();
    private final List<byte[]> hashed = new ArrayList<>();
    private final List<Pattern> texts = new ArrayList<>();

    /**
     * @param request its name, the header {@code request}; 16 hexadecimal digits also name the record without such a
     *     header that reports call so
     */
    public RequestTrace(String request) {
        this.request = request;
        hashes.add(RowSample.requestHash(request));
        if (RECORD.matcher(request).matches()) {
            hashes.add(Long.parseUnsignedLong(request, 16));
        }
        for (String name : new TreeSet<>(List.of(request, name(), Printable.of(name())))) {
            byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
            if (utf8.length >= LEAST_BYTES) {
                names.add(utf8);
            }
            texts.add(Pattern.compile("(?<![\\w.-])%s(?![\\w-])".formatted(Pattern.quote(name))));
        }
        for (long hash : hashes) {
            for (long one : new long[] {hash, SplitMix.mix(hash)}) {
                hashed.add(ByteBuffer.allocate(Long.BYTES).putLong(one).array());
                hashed.add(ByteBuffer.allocate(Long.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(one)
                        .array());
            }
        }
    }

    /** Returns the hashes that the request may have. */
    public List<Long> hashes() {
        return List.copyOf(hashes);
    }

    /** Returns the name as state and reports keep it. */
    public String name() {
        return RequestName.shortened(request);
    }

    /** Returns whether key, value or headers of a record hold the request. */
    public boolean isIn(ConsumerRecord<byte[], byte[]> record) {
        boolean named = false;
        for (Header header : record.headers()) {
            byte[] text = header.value();
            boolean isName = header.key().equals("request") && text != null;
            if (isName ? new String(text, StandardCharsets.UTF_8).equals(request) : isIn(text)) {
                return true;
            }
            named |= isName;
        }
        byte[] value = record.value();
        return isIn(record.key())
                || isIn(value)
                || (!named && value != null && hashes.contains(RowSample.recordHash(value, record.timestamp(), null)));
    }

    /** Returns whether these bytes hold a hash of the request, or its name where that is long enough. */
    public boolean isIn(byte @Nullable [] bytes) {
        return isHashedIn(bytes) || (bytes != null && names.stream().anyMatch(name -> isWordIn(bytes, name)));
    }

    /** Returns whether these bytes hold a hash of the request; state holds no name without one. */
    public boolean isHashedIn(byte @Nullable [] bytes) {
        return bytes != null && hashed.stream().anyMatch(hash -> indexOf(bytes, hash, 0) >= 0);
    }

    /** Returns whether a text of this JSON names the request, alone or in a sentence. */
    public boolean isNamedIn(byte @Nullable [] json) {
        if (json == null || isIn(json)) {
            return json != null;
        }
        try {
            return isNamedIn(JSON.readTree(new String(json, StandardCharsets.UTF_8)));
        } catch (JsonProcessingException notJson) {
            return false;
        }
    }

    private boolean isNamedIn(JsonNode node) {
        if (node.isTextual()) {
            return texts.stream()
                    .anyMatch(text -> text.matcher(node.textValue()).find());
        }
        for (JsonNode child : node) {
            if (isNamedIn(child)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWordIn(byte[] bytes, byte[] name) {
        for (int at = indexOf(bytes, name, 0); at >= 0; at = indexOf(bytes, name, at + 1)) {
            int end = at + name.length;
            if ((at == 0 || !isOfNames(bytes[at - 1])) && (end == bytes.length || !isOfNames(bytes[end]))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOfNames(byte one) {
        return one == '-' || one == '.' || one == '_' || (one > 0 && Character.isLetterOrDigit(one));
    }

    private static int indexOf(byte[] bytes, byte[] pattern, int from) {
        byte first = pattern[0];
        search:
        for (int at = from; at <= bytes.length - pattern.length; at++) {
            if (bytes[at] != first) {
                continue;
            }
            for (int i = 1; i < pattern.length; i++) {
                if (bytes[at + i] != pattern[i]) {
                    continue search;
                }
            }
            return at;
        }
        return -1;
    }
}
