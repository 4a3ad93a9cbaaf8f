package io.plumbline.baseline;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says where a baseline comes from, so that a stale one is seen and a replaced one can be found again.
 *
 * @param created when it was made
 * @param source what it was made of, for people
 * @param revision 1 for a first baseline, one more than its parent's otherwise
 * @param parent SHA-256 of the baseline file this one was made to replace, 64 hexadecimal digits; null for a first one
 * @param content checksum of the content of the file it was read from, by which the file names itself; null: of none
 */
public record Provenance(
        Instant created,
        String source,
        long revision,
        @Nullable String parent,
        @Nullable String content) {

    public Provenance {
        if (revision < 1 || (parent == null) != (revision == 1)) {
            throw new IllegalArgumentException(
                    "revision %d with %s: expected revision 1 without a parent, or a later one with its sha256"
                            .formatted(revision, parent == null ? "no parent" : "a parent"));
        }
        if (parent != null && !parent.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException("parent = \"%s\": expected 64 hexadecimal digits".formatted(parent));
        }
    }

    /** Returns the provenance of a baseline that replaces none. */
    public static Provenance first(Instant created, String source) {
        return new Provenance(created, source, 1, null, null);
    }

    /** Returns the provenance of a baseline made to replace another one, whose file has this SHA-256. */
    public static Provenance replacing(Baseline old, String sha256, Instant created, String source) {
        long revision =
                Optional.ofNullable(old.provenance()).map(Provenance::revision).orElse(1L);
        return new Provenance(created, source, revision + 1, sha256, null);
    }
}
