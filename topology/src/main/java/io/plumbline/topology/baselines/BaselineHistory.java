package io.plumbline.topology.baselines;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Holds the baselines of a site, as the topic has them. Immutable.
 *
 * @param taken into service, in this order; the last is in service, or will be from its edge on. At most
 *     {@value #VERSIONS}
 * @param proposed the one that was proposed last, until it is taken; null: none
 */
public record BaselineHistory(
        String site, List<BaselineVersion> taken, @Nullable BaselineVersion proposed) {

    private static final int VERSIONS = 50;

    /** Returns the history of a site without a record. */
    public static BaselineHistory of(String site) {
        return new BaselineHistory(site, List.of(), null);
    }

    /** Returns the history with a record more; one that is known is replaced. */
    public BaselineHistory with(BaselineVersion version) {
        if (version.taken() == null) {
            BaselineVersion newest = newest();
            boolean isTaken = newest != null && newest.sha256().equals(version.sha256());
            return new BaselineHistory(site, taken, isTaken ? null : version);
        }
        if (taken.stream().anyMatch(one -> one.key().equals(version.key()) && one.saysMoreThan(version))) {
            return this; // written at once by one that held what was replaced, and by one that did not
        }
        List<BaselineVersion> all = Stream.concat(
                        taken.stream().filter(one -> !one.key().equals(version.key())), Stream.of(version))
                .sorted(BaselineVersion.IN_ORDER)
                .toList();
        boolean wasProposed = proposed != null && proposed.sha256().equals(version.sha256());
        return new BaselineHistory(
                site, all.subList(Math.max(0, all.size() - VERSIONS), all.size()), wasProposed ? null : proposed);
    }

    /** Returns the history without the record of a key, which was deleted from the topic. */
    BaselineHistory without(String key) {
        return new BaselineHistory(
                site,
                taken.stream().filter(one -> !one.key().equals(key)).toList(),
                proposed != null && proposed.key().equals(key) ? null : proposed);
    }

    /** Returns the one that was taken last; null where none was. */
    public @Nullable BaselineVersion newest() {
        return taken.isEmpty() ? null : taken.get(taken.size() - 1);
    }

    /**
     * Returns what is to be written of a baseline that an instance took over; null where the site was judged by it
     * already, or another instance has written it, unless that one could not compare.
     *
     * @param described with its comparison with the one this instance held before; without where it began with it
     */
    @Nullable
    BaselineVersion noted(BaselineVersion described) {
        BaselineVersion before = null;
        BaselineVersion written = null;
        for (BaselineVersion one : taken) {
            if (one.key().equals(described.key())) {
                written = one;
            } else if (BaselineVersion.IN_ORDER.compare(one, described) <= 0) {
                before = one;
            }
        }
        if (before != null && before.sha256().equals(described.sha256())) {
            return null;
        }
        String replaced = before == null ? null : before.sha256();
        BaselineVersion proposal = proposed;
        BaselineComparison comparison = described.comparison();
        if (comparison == null && proposal != null && proposal.sha256().equals(described.sha256())) {
            comparison = proposal.comparison();
        }
        BaselineVersion noted = described.after(
                before,
                comparison != null && Objects.equals(comparison.replacesSha256(), replaced) ? comparison : null);
        return written == null || noted.saysMoreThan(written) ? noted : null;
    }
}
