package io.plumbline.topology.baselines;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.Provenance;
import io.plumbline.baseline.RequestModel;
import io.plumbline.topology.emission.ApprovedBaseline.Approver;
import java.util.Comparator;
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

    /** The order in which baselines were taken into service. */
    static final Comparator<BaselineVersion> IN_ORDER = Comparator.comparingLong(
                    (BaselineVersion version) -> version.taken == null ? Long.MAX_VALUE : version.taken.agreedMs())
            .thenComparingLong(version -> version.taken == null ? 0 : version.taken.version());

    /** Says by which version of the configuration a baseline came into service. */
    public record Taken(
            @JsonPropertyDescription("version of the configuration")
            long version,

            @JsonPropertyDescription(
                    "event time from which windows are judged by it; null: of the first baseline known here. A process"
                            + " that starts with it judges its open windows by it too")
            @Nullable
            Long fromMs,

            @JsonPropertyDescription("when that version was published")
            long agreedMs) {}

    public BaselineVersion {
        if (schema < 1 || schema > SCHEMA || site.isBlank() || !sha256.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException(
                    "schema %d, site \"%s\", hash \"%s\": not written by this program".formatted(schema, site, sha256));
        }
    }

    /**
     * Describes a baseline.
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
                provenance == null ? "" : provenance.source(),
                provenance == null ? 1 : provenance.revision(),
                baseline.rowCount(),
                requests == null ? null : requests.requests(),
                rank,
                approver,
                taken,
                comparison == null ? null : comparison.replacesSha256(),
                comparison);
    }

    /** Returns this as one that came after another, or after none that is known. */
    BaselineVersion after(@Nullable BaselineVersion before, @Nullable BaselineComparison with) {
        Taken since = taken == null || before != null ? taken : new Taken(taken.version(), null, taken.agreedMs());
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

    /** Returns the record's key: a site has one proposal, and one record for each time it takes a baseline over. */
    public String key() {
        return taken == null ? site + " proposed" : "%s %d %s".formatted(site, taken.version(), sha256);
    }
}
