package io.plumbline.topology.baselines;

import io.plumbline.topology.broker.FollowedTopic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the topic has not taken yet, in order for each site. A record without the comparison that another instance
 * may have waits for a while: written after that one's, it would be what compaction keeps. Not thread-safe.
 */
final class Unwritten {

    private record Waiting(BaselineVersion described, long sinceNanos) {}

    private final List<Waiting> all = new ArrayList<>();
    private final Duration forComparison;
    private final LongSupplier nanos;

    /** @param forComparison time that a record without comparison waits */
    Unwritten(Duration forComparison, LongSupplier nanos) {
        this.forComparison = forComparison;
        this.nanos = nanos;
    }

    /** Takes one, or throws that it did not. */
    interface Target {
        void take(BaselineVersion noted) throws InterruptedException;
    }

    void add(List<BaselineVersion> described) {
        described.forEach(one -> all.add(new Waiting(one, nanos.getAsLong())));
    }

    int size() {
        return all.size();
    }

    /**
     * Offers to a target what the history of its site does not name. Of a site whose record is refused, or waits,
     * nothing follows; the other sites go on, unless no broker answers.
     *
     * @param histories by sites
     * @return why the first that was refused was; null: none was
     */
    @Nullable
    RuntimeException writeTo(Function<String, BaselineHistory> histories, Target target) throws InterruptedException {
        Set<String> held = new HashSet<>();
        RuntimeException first = null;
        for (Iterator<Waiting> each = all.iterator(); each.hasNext(); ) {
            Waiting one = each.next();
            String site = one.described().site();
            if (held.contains(site)) {
                continue;
            }
            BaselineVersion noted = histories.apply(site).noted(one.described());
            if (noted != null && mayComeWithMore(noted, one.sinceNanos())) {
                held.add(site);
                continue;
            }
            try {
                if (noted != null) {
                    target.take(noted);
                }
                each.remove();
            } catch (RuntimeException why) {
                held.add(site);
                first = first == null ? why : first;
                if (FollowedTopic.isAway(why)) {
                    return first;
                }
            }
        }
        return first;
    }

    private boolean mayComeWithMore(BaselineVersion noted, long sinceNanos) {
        return noted.replacesSha256() != null
                && noted.comparison() == null
                && nanos.getAsLong() - sinceNanos < forComparison.toNanos();
    }
}
