package io.plumbline.moments;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which rows of a site enter no sum: those of special tokens, and those far longer than the others.
 *
 * <p>A BOS or CLS token, or a token that a model uses as an attention sink, can be a hundred times as long as the rest:
 * one in a hundred then holds most of a window's energy, and the active subspace is about that token.
 *
 * @param tokenIds ids to leave out, ascending, each once; empty: none
 * @param normCap rows longer than this many times the baseline's median row are left out, more than 1; null: none
 */
public record MaskRules(List<Long> tokenIds, @Nullable Double normCap) {

    public static final MaskRules NONE = new MaskRules(List.of(), null);

    public MaskRules {
        tokenIds = tokenIds.stream().sorted().distinct().toList();
        if (normCap != null && !(normCap > 1.0 && normCap <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    "norm_cap = %s: expected a number above 1, how many times the median row is still a row"
                            .formatted(normCap));
        }
    }

    public boolean isEmpty() {
        return tokenIds.isEmpty() && normCap == null;
    }

    /** Returns these rules with nothing about norms. */
    public MaskRules withoutNormCap() {
        return new MaskRules(tokenIds, null);
    }

    /** Returns the rules as they are written in a configuration. */
    @Override
    public String toString() {
        if (isEmpty()) {
            return "none";
        }
        String ids = tokenIds.stream().map(String::valueOf).collect(Collectors.joining(", ", "token_ids: [", "]"));
        if (normCap == null) {
            return "{" + ids + "}";
        }
        return tokenIds.isEmpty() ? "{norm_cap: %s}".formatted(normCap) : "{%s, norm_cap: %s}".formatted(ids, normCap);
    }
}
