package io.plumbline.moments;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How many rows a {@link RowMask} took out, by reason. A row that both rules name counts once, by its token.
 *
 * @param byToken rows of special tokens
 * @param byNorm rows above the cap
 */
public record MaskedRows(long byToken, long byNorm) {

    public static final MaskedRows NONE = new MaskedRows(0, 0);

    public MaskedRows {
        if (byToken < 0 || byNorm < 0) {
            throw new IllegalArgumentException(
                    "%d rows masked by token, %d by norm: expected 0 or more".formatted(byToken, byNorm));
        }
    }

    public long total() {
        return byToken + byNorm;
    }

    public MaskedRows plus(MaskedRows other) {
        return new MaskedRows(Math.addExact(byToken, other.byToken), Math.addExact(byNorm, other.byNorm));
    }

    /** The counts under the names they have in reports and metric labels. */
    public Map<String, Long> byReason() {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("token_id", byToken);
        counts.put("norm", byNorm);
        return counts;
    }
}
