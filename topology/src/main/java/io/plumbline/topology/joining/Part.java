package io.plumbline.topology.joining;

import io.plumbline.wire.ActivationPart;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * A checked part of a record.
 *
 * @param of the record that it is a part of
 */
record Part(Of of, PartRecord sent, ActivationPart tensors) {

    /** Names the header with the position of the first row in its request, by which a record says that it is a part. */
    static final String POSITION = "position";

    private static final String REQUEST = "request";

    /**
     * The record that parts are joined to.
     *
     * @param request its name as it was sent: two names that are no text may look alike as one
     * @param position of its first row in the request
     */
    record Of(String site, Bytes request, long position) {
        @Override
        public String toString() {
            String request = new String(this.request.get(), StandardCharsets.UTF_8);
            return "request \"%s\" from position %d on"
                    .formatted(request.length() <= 80 ? request : request.substring(0, 80) + "…", position);
        }
    }

    /**
     * Returns the part that a record is.
     *
     * @param tensors of the record, not all that its site needs
     * @throws IllegalArgumentException with what is wrong with it as a part
     */
    static Part of(JoinedSite site, PartRecord sent, ActivationPart tensors) {
        Headers headers = sent.record().headers();
        byte[] request = valueOf(headers, REQUEST);
        if (request == null || request.length == 0) {
            throw new IllegalArgumentException(
                    "the record is a part, since it has the header \"position\"; expected the header \"request\" too, which its parts have in common");
        }
        if (sent.record().key() == null) {
            throw new IllegalArgumentException(
                    "the record is a part, since it has the header \"position\"; expected a key, the same for all parts, so that they lie on one partition");
        }
        Of of = new Of(site.name(), Bytes.wrap(request), position(headers));
        return new Part(of, sent, tensors);
    }

    private static long position(Headers headers) {
        byte[] value = valueOf(headers, POSITION);
        byte[] digits = value == null ? new byte[0] : value;
        boolean sound = digits.length > 0 && digits.length <= 15;
        for (byte digit : digits) {
            sound = sound && digit >= '0' && digit <= '9';
        }
        String text = new String(digits, 0, Math.min(digits.length, 40), StandardCharsets.UTF_8);
        if (!sound) {
            throw new IllegalArgumentException(
                    "the header position is \"%s\", expected the number of the first row in its request in decimal digits, such as 0"
                            .formatted(text));
        }
        return Long.parseLong(text);
    }

    private static byte @Nullable [] valueOf(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        return header == null ? null : header.value();
    }
}
