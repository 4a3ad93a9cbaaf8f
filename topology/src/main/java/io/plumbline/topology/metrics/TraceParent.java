package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.snapshots.Exemplar;
import io.prometheus.metrics.model.snapshots.Labels;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the header {@code traceparent} of a record, version 00 of the W3C's Trace Context: {@code 00-trace-span-flags}
 * in 2, 32, 16 and 2 lower-case hexadecimal digits.
 */
final class TraceParent {

    private static final int TRACE = 3;
    private static final int SPAN = 36;
    private static final int FLAGS = 53;
    private static final int LENGTH = 55;

    private TraceParent() {}

    /**
     * Returns the labels of an exemplar that names the span; null where the header is anything else, or its last flag
     * says that nobody keeps the trace.
     */
    static @Nullable Labels exemplar(byte[] header) {
        boolean wellFormed = header.length == LENGTH
                && header[0] == '0'
                && header[1] == '0'
                && header[TRACE - 1] == '-'
                && isId(header, TRACE, SPAN - 1)
                && header[SPAN - 1] == '-'
                && isId(header, SPAN, FLAGS - 1)
                && header[FLAGS - 1] == '-'
                && isHex(header[FLAGS])
                && isHex(header[FLAGS + 1]);
        if (!wellFormed || Character.digit(header[FLAGS + 1], 16) % 2 == 0) {
            return null;
        }
        String text = new String(header, StandardCharsets.US_ASCII);
        return Labels.of(
                Exemplar.TRACE_ID, text.substring(TRACE, SPAN - 1), Exemplar.SPAN_ID, text.substring(SPAN, FLAGS - 1));
    }

    /** Returns whether all are digits and not all are 0, which stands for no id. */
    private static boolean isId(byte[] header, int from, int to) {
        boolean some = false;
        for (int at = from; at < to; at++) {
            if (!isHex(header[at])) {
                return false;
            }
            some |= header[at] != '0';
        }
        return some;
    }

    private static boolean isHex(byte character) {
        return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
    }
}
