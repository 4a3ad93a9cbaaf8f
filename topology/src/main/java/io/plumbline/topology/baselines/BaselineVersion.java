package io.plumbline.topology.baselines;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.Provenance;
import io.plumbline.baseline.RequestModel;
import io.plumbline.topology.emission.ApprovedBaseline.Approver;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Describes a baseline that a site was judged by from some window on, or that is proposed. A record of the topic, whose
 * key is {@link #key}: instances that take the same baseline over write the same record.
 */
public record BaselineVersion(
        @JsonPropertyDescription("of this record, 1") int schema,
        @JsonPropertyDescription("the site") String site,
        @JsonPropertyDescription("SHA-256 of the file") String sha256,

        @JsonPropertyDescription("checksum of its content, `baseline_sha256` in reports") @Nullable
        String contentSha256,

        @JsonPropertyDescription("when it was made") @Nullable
        Long createdMs,

        @JsonPropertyDescription("what it was made of") String source,

        @JsonPropertyDescription("1 for a baseline that was made to replace none")
        long revision,

        @JsonPropertyDescription("rows that it was measured of")
        long rows,

        @JsonPropertyDescription("requests whose scores it keeps; null where they were too few") @Nullable
        Integer requests,

        @JsonPropertyDescription("rank that the site is watched at")
        int rank,

        @JsonPropertyDescription("who of `signing.approvers` signed it; null: none of them") @Nullable
        Approver approver,

        @JsonPropertyDescription("since when the site is judged by it; null: it is proposed") @Nullable
        Taken taken,

        @JsonPropertyDescription("SHA-256 of the file of the one in service before; null: of none known") @Nullable
        String replacesSha256,

        @JsonPropertyDescription("with the one it replaces; null where nobody held both") @Nullable
        BaselineComparison comparison) {

    /** The schema that this program writes, and the newest that it reads. */
    static final int SCHEMA = 1;

    /** Characters of {@link #source} that are kept. */
    static final int LONGEST_SOURCE = 2_000;

    private static final int LONGEST_NAME = 1_000;

    private static final long YEAR_10000_MS =
            Instant.parse("+10000-01-01T00:00:00Z").toEpochMilli();

    /**
     * The order in which baselines were taken into service: that of the records of the topic of configurations, which
     * depends on no publisher's clock.
     */
    static final Comparator<BaselineVersion> IN_ORDER = Comparator.comparingLong(
                    (BaselineVersion version) -> version.taken == null ? Long.MAX_VALUE : version.taken.topicMs())
            .thenComparingLong(version -> version.taken == null ? 0 : version.taken.version());

    /** Says by which version of the configuration a baseline came into service. */
    public record Taken(
            @JsonPropertyDescription(
                    "when the first record of the topic of configurations came, by the broker: later, where the topic"
                            + " was made anew and its versions begin at 1 again")
            long topicMs,

            @JsonPropertyDescription("version of the configuration")
            long version,

            @JsonPropertyDescription(
                    "event time from which windows are judged by it; null: of the first baseline known here. A process"
                            + " that starts with it judges its open windows by it too")
            @Nullable
            Long fromMs,

            @JsonPropertyDescription("when that version was published, by the publisher's clock")
            long agreedMs) {

        public Taken {
            requireTime("topic_ms", topicMs);
            requireTime("from_ms", fromMs);
            requireTime("agreed_ms", agreedMs);
            if (version < 1) {
                throw new IllegalArgumentException("version %d: expected 1 or more".formatted(version));
            }
        }
    }

    public BaselineVersion {
        if (schema < 1 || schema > SCHEMA || site.isBlank() || sha256.isBlank()) {
            throw new IllegalArgumentException(
                    "schema %d, site \"%s\", hash \"%s\": not written by this program".formatted(schema, site, sha256));
        }
        requireLength("site", site, LONGEST_NAME);
        requireHash("sha256", sha256);
        requireHash("content_sha256", contentSha256);
        requireHash("replaces_sha256", replacesSha256);
        requireTime("created_ms", createdMs);
        requireLength("source", source, LONGEST_SOURCE);
        if (approver != null) {
            requireLength("approver.name", approver.name(), LONGEST_NAME);
            requireLength("approver.key_id", approver.keyId(), LONGEST_NAME);
        }
        if (revision < 1 || rows < 0 || rank < 1 || (requests != null && requests < 0)) {
            throw new IllegalArgumentException("revision %d, rows %d, rank %d, requests %s: not those of a baseline"
                    .formatted(revision, rows, rank, requests));
        }
    }

    static void requireHash(String key, @Nullable String hash) {
        if (hash != null && !hash.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException("%s = \"%s\": expected 64 hexadecimal digits".formatted(key, hash));
        }
    }

    static void requireTime(String key, @Nullable Long ms) {
        if (ms != null && (ms < 0 || ms >= YEAR_10000_MS)) {
            throw new IllegalArgumentException(
                    "%s = %d: expected milliseconds from 1970 to the year 9999".formatted(key, ms));
        }
    }

    static void requireLength(String key, String text, int most) {
        if (text.length() > most) {
            throw new IllegalArgumentException(
                    "%s: %d characters, expected at most %d".formatted(key, text.length(), most));
        }
    }

    /**
     * Describes a baseline, with the first {@value #LONGEST_SOURCE} characters of what it was made of, and of a
     * comparison what is at the site's rank: a record stays small beside what a broker takes.
     *
     * @param sha256 of its file
     * @param taken null: it is proposed
     */
    public static BaselineVersion of(
            String site,
            String sha256,
            Baseline baseline,
            int rank,
            @Nullable Approver approver,
            @Nullable Taken taken,
            @Nullable BaselineComparison comparison) {
        Provenance provenance = baseline.provenance();
        RequestModel requests = baseline.requests();
        return new BaselineVersion(
                SCHEMA,
                site,
                sha256,
                provenance == null ? null : provenance.content(),
                provenance == null ? null : provenance.created().toEpochMilli(),
                provenance == null
                        ? ""
                        : provenance
                                .source()
                                .substring(0, Math.min(provenance.source().length(), LONGEST_SOURCE)),
                provenance == null ? 1 : provenance.revision(),
                baseline.rowCount(),
                requests == null ? null : requests.requests(),
                rank,
                approver,
                taken,
                comparison == null ? null : comparison.replacesSha256(),
                comparison == null ? null : comparison.at(rank));
    }

    /** Returns this as one that came after another, or after none that is known. */
    BaselineVersion after(@Nullable BaselineVersion before, @Nullable BaselineComparison with) {
        Taken since = taken == null || before != null
                ? taken
                : new Taken(taken.topicMs(), taken.version(), null, taken.agreedMs());
        return new BaselineVersion(
                schema,
                site,
                sha256,
                contentSha256,
                createdMs,
                source,
                revision,
                rows,
                requests,
                rank,
                approver,
                since,
                before == null ? null : before.sha256,
                with);
    }

    /** Returns whether this has a comparison with the same one, and the other, of the same key, has none. */
    boolean saysMoreThan(BaselineVersion other) {
        return comparison != null && other.comparison == null && Objects.equals(replacesSha256, other.replacesSha256);
    }

    /** Returns the record's key: a site has one proposal, and one record for each time it takes a baseline over. */
    public String key() {
        return taken == null
                ? site + " proposed"
                : "%s %d %d %s".formatted(site, taken.topicMs(), taken.version(), sha256);
    }
}
