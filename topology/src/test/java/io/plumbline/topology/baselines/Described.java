package io.plumbline.topology.baselines;

import io.plumbline.baseline.BaselineDiff;
import io.plumbline.topology.emission.ApprovedBaseline.Approver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes descriptions of baselines that nobody measured. */
public final class Described {

    /** The time at which the first is made. */
    public static final long MADE_MS = 1_699_000_000_000L;

    private static final long HOUR_MS = 3_600_000;

    private Described() {}

    /** Returns the hash of a file by its letter. */
    public static String hash(String letter) {
        return letter.repeat(64);
    }

    /** Returns a baseline that version 1 of the configuration brought, as the first that is known. */
    public static BaselineVersion first(String site, String letter) {
        return taken(site, letter, 1, null, null);
    }

    /** Returns one that a version of the configuration brought in the place of another. */
    public static BaselineVersion replacing(String site, String letter, int version, String replaced) {
        return taken(site, letter, version, replaced, comparison(replaced));
    }

    /** Returns one as the process describes it that began with it, and did not hold the one before. */
    static BaselineVersion started(String site, String letter, int version) {
        return taken(site, letter, version, "", null);
    }

    /** Returns a proposal to replace another. */
    public static BaselineVersion proposed(String site, String letter, String replaced) {
        BaselineVersion one = replacing(site, letter, 9, replaced);
        return new BaselineVersion(
                1,
                site,
                one.sha256(),
                one.contentSha256(),
                one.createdMs(),
                one.source(),
                3,
                one.rows(),
                one.requests(),
                one.rank(),
                null,
                null,
                hash(replaced),
                one.comparison());
    }

    /** @param replaced null: the first; empty: not known */
    private static BaselineVersion taken(
            String site, String letter, int version, @Nullable String replaced, @Nullable BaselineComparison with) {
        return new BaselineVersion(
                1,
                site,
                hash(letter),
                letter.repeat(63) + "0",
                MADE_MS + version * HOUR_MS,
                "the last 500 aligned windows",
                version,
                200_000 + version,
                1_234,
                32,
                version == 1 ? null : new Approver("ada", "0123456789abcdef"),
                new BaselineVersion.Taken(
                        MADE_MS,
                        version,
                        replaced == null ? null : MADE_MS + version * HOUR_MS + 60_000,
                        MADE_MS + version),
                replaced == null || replaced.isEmpty() ? null : hash(replaced),
                with);
    }

    private static BaselineComparison comparison(String replaced) {
        return new BaselineComparison(
                hash(replaced),
                MADE_MS,
                List.of(200_001L, 200_002L),
                List.of(0.201, 0.204),
                0.125,
                List.of(new BaselineComparison.Gap(32, 1.5, 0.1875)),
                List.of(
                        new BaselineDiff.Change("faithfulness_gap", 32, 512, 4.25, 4.5, 240, 250),
                        new BaselineDiff.Change("kl", 32, 512, null, 0.5, 0, 250)));
    }
}
