package io.plumbline.moments;

import java.util.regex.Pattern;

/**
 * Which encoder gave some codes: equal ids give equal codes for equal rows, to the last bit.
 *
 * @param sha256 of weights, bias, selection and the arithmetic they are multiplied with, in hexadecimal
 * @param features how many there are
 */
public record EncoderId(String sha256, int features) {

    /** Bytes of the hash. */
    static final int BYTES = 32;

    private static final Pattern HEXADECIMAL = Pattern.compile("[0-9a-f]{64}");

    public EncoderId {
        if (!HEXADECIMAL.matcher(sha256).matches() || features < 1) {
            throw new IllegalArgumentException(
                    "encoder \"%s\" of %d features: expected a SHA-256 in hexadecimal and at least 1 feature"
                            .formatted(sha256, features));
        }
    }
}
