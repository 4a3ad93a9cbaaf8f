package io.plumbline.topology.baselines;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.Provenance;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.ApprovedBaseline;
import io.plumbline.topology.emission.ApprovedBaseline.Approver;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Describes the baselines that this process judges by, each compared with the one it held before. What cannot be
 * compared is described without; what cannot be described costs no other site its record.
 *
 * <p>Holds the baseline of each site, which the monitor holds too. Not thread-safe.
 */
final class TakenOver {

    private static final Logger LOG = LoggerFactory.getLogger(TakenOver.class);

    private record Held(String sha256, Baseline baseline) {}

    private final Map<String, Held> held = new HashMap<>();

    /**
     * Describes the sites of a version, those whose baseline is the one held already among them: in between the site
     * may have had another, by which this process did not judge.
     *
     * @param baselines SHA-256 of the file of each site's baseline
     */
    List<BaselineVersion> describe(
            Map<String, WatchedSite> sites,
            Map<String, String> baselines,
            MonitorConfig config,
            ConfigVersion version) {
        List<BaselineVersion> described = new ArrayList<>();
        sites.forEach((name, site) -> {
            String sha256 = baselines.getOrDefault(name, "");
            if (!sha256.isEmpty()) {
                try {
                    described.add(describe(site, sha256, config, version));
                } catch (RuntimeException | Error broken) {
                    LOG.warn(
                            "a baseline is in service that cannot be described: site={} hash={} reason={}",
                            Printable.value(name),
                            sha256,
                            Printable.value(String.valueOf(broken.getMessage())));
                }
            }
        });
        held.keySet().retainAll(sites.keySet());
        return described;
    }

    private BaselineVersion describe(WatchedSite site, String sha256, MonitorConfig config, ConfigVersion version) {
        Held before = held.get(site.site());
        Held now;
        BaselineComparison comparison = null;
        if (before != null && before.sha256().equals(sha256)) {
            now = before;
        } else {
            now = new Held(sha256, site.baseline().byItself());
            held.put(site.site(), now);
            comparison = before == null ? null : comparison(before, site, now.baseline(), config);
        }
        return BaselineVersion.of(
                site.site(),
                sha256,
                now.baseline(),
                site.settings().explained().rank(),
                approver(site, now.baseline(), config),
                new BaselineVersion.Taken(
                        version.topicMs(), version.version(), version.fromMs(), version.publishedMs()),
                comparison);
    }

    private static @Nullable BaselineComparison comparison(
            Held before, WatchedSite site, Baseline next, MonitorConfig config) {
        try {
            return BaselineComparison.betweenAt(
                    site.settings().explained().rank(),
                    before.baseline(),
                    before.sha256(),
                    next,
                    BaselineComparison.rule(site.settings(), config.window().size()),
                    site.settings().alarms().triggers());
        } catch (RuntimeException | Error broken) {
            // An error too, such as no memory for a matrix.
            LOG.warn(
                    "a baseline is noted without a comparison with the one before: site={} hash={} reason={}",
                    Printable.value(site.site()),
                    before.sha256(),
                    Printable.value(String.valueOf(broken.getMessage())));
            return null;
        }
    }

    private static @Nullable Approver approver(WatchedSite site, Baseline baseline, MonitorConfig config) {
        Provenance provenance = baseline.provenance();
        String content = provenance == null ? null : provenance.content();
        try {
            return content == null
                    ? null
                    : ApprovedBaseline.approver(
                            site.settings().explained().baseline(),
                            content,
                            config.signing().approverKeys());
        } catch (IOException unreadable) {
            return null;
        }
    }
}
