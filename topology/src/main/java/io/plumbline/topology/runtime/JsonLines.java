package io.plumbline.topology.runtime;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.helpers.MessageFormatter;

/**
 * Writes each line of the log as a JSON object: {@code time}, {@code level}, {@code logger}, {@code thread}, {@code
 * message}, each pair of key and value of the line, {@code advice} and, with a stack trace, {@code error}.
 *
 * <p>Logback's own encoder writes arguments without their keys, the time as a number and a stack trace as a tree, for
 * which a collector needs rules of its own. Pairs are read from the format of this program's lines; lines of libraries
 * keep them in their message. A number stays a number.
 */
final class JsonLines extends EncoderBase<ILoggingEvent> {

    private static final String OURS = "io.plumbline.";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSX", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    /** Matches a format with a sentence, pairs and, on lines of its own, advice. */
    private static final Pattern LINE = Pattern.compile("([^\\n]*?):?((?: [a-z_]+=\\{})+)(?:\\n((?s:.*)))?");

    private static final Pattern KEY = Pattern.compile("([a-z_]+)=");
    private static final Pattern PLACE = Pattern.compile("\\{}");
    private static final byte[] NOTHING = {};

    @Override
    public byte[] headerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] footerBytes() {
        return NOTHING;
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        ObjectNode line = JsonNodeFactory.instance.objectNode();
        line.put("time", TIME.format(event.getInstant()));
        line.put("level", event.getLevel().toString());
        line.put("logger", event.getLoggerName());
        line.put("thread", event.getThreadName());
        Object[] arguments = event.getArgumentArray();
        Matcher format = LINE.matcher(event.getMessage() == null ? "" : event.getMessage());
        if (arguments != null && event.getLoggerName().startsWith(OURS) && format.matches()) {
            putParts(line, format, arguments);
        } else {
            line.put("message", event.getFormattedMessage());
        }
        if (event.getThrowableProxy() != null) {
            line.put("error", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        return (line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8);
    }

    private static void putParts(ObjectNode line, Matcher format, Object[] arguments) {
        int argument = places(format.group(1));
        line.put("message", filled(format.group(1), arguments, 0));
        Matcher key = KEY.matcher(format.group(2));
        while (key.find()) {
            line.putIfAbsent(key.group(1), argument < arguments.length ? value(arguments[argument]) : null);
            argument++;
        }
        if (format.group(3) != null) {
            line.put("advice", filled(format.group(3), arguments, Math.min(argument, arguments.length)));
        }
    }

    private static int places(String format) {
        return (int) PLACE.matcher(format).results().count();
    }

    private static String filled(String format, Object[] arguments, int from) {
        return MessageFormatter.arrayFormat(format, Arrays.copyOfRange(arguments, from, arguments.length))
                .getMessage();
    }

    private static JsonNode value(@Nullable Object argument) {
        return argument instanceof Number || argument instanceof Boolean
                ? JSON.valueToTree(argument)
                : JsonNodeFactory.instance.textNode(unquoted(String.valueOf(argument)));
    }

    /** Undoes the quotes that a value needs in a line of text. */
    private static String unquoted(String value) {
        return value.length() > 1 && value.startsWith("\"") && value.endsWith("\"")
                ? value.substring(1, value.length() - 1).replaceAll("\\\\(.)", "$1")
                : value;
    }
}
