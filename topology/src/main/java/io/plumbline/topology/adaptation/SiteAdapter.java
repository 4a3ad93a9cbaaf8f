package io.plumbline.topology.adaptation;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.adaptation.TargetsRefit.Block;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A site that adapts, and who decides what becomes of its decoder.
 *
 * @param blocks the site itself, or the blocks of a site with several targets
 * @param targets refits the blocks of a site with several targets; null for any other site
 * @param trainedSha256 of the trained decoder that is published when it returns
 */
record SiteAdapter(
        List<Block> blocks,
        @Nullable TargetsRefit targets,
        SwapDesk desk,
        AdaptationSettings settings,
        Duration cooldown,
        String trainedSha256) {

    /** Returns those of all sites that adapt, by the names under which their decoders are published. */
    static Map<String, SiteAdapter> all(
            Map<String, WatchedSite> sites,
            Map<String, AdaptationSettings> settings,
            Map<String, SwapRules> rules,
            Map<String, BehaviourProbe> probes,
            PublishedCandidates published) {
        Map<String, WatchedTargets> targets = WatchedTargets.of(sites);
        Map<String, SiteAdapter> adapters = new HashMap<>();
        settings.forEach((name, own) -> {
            SwapRules swaps = Objects.requireNonNull(rules.get(name), name);
            WatchedTargets several = targets.get(name);
            adapters.put(
                    name,
                    several == null
                            ? of(Objects.requireNonNull(sites.get(name), name), own, swaps, probes.get(name), published)
                            : of(several, own, swaps, published));
        });
        return adapters;
    }

    private static SiteAdapter of(
            WatchedSite site,
            AdaptationSettings settings,
            SwapRules rules,
            @Nullable BehaviourProbe probe,
            PublishedCandidates published) {
        SiteRefit refit = refit(site, settings, gate(site, settings.selectBy(), probe));
        return new SiteAdapter(
                List.of(new Block(site.id(), refit, site.explainer())),
                null,
                new SwapDesk(site.site(), rules, refit::trained, published),
                settings,
                site.settings().cooldown(),
                site.explainer().decoder().sha256());
    }

    private static SiteAdapter of(
            WatchedTargets targets, AdaptationSettings settings, SwapRules rules, PublishedCandidates published) {
        List<Block> blocks = targets.blocks().stream()
                .map(block -> new Block(block.id(), refit(block, settings, null), block.explainer()))
                .toList();
        String sha256 = targets.trained().sha256();
        SwapDesk.Trained returning = (version, lineage) -> {
            Decoder trained = targets.trained();
            return new Publication(
                    version, DecoderKind.TRAINED, trained, settings.revertType(trained), lineage, sha256);
        };
        return new SiteAdapter(
                blocks,
                new TargetsRefit(targets.site(), blocks, targets.joint(), settings, sha256),
                new SwapDesk(targets.site(), rules, returning, published),
                settings,
                targets.blocks().get(0).settings().cooldown(),
                sha256);
    }

    private static SiteRefit refit(WatchedSite site, AdaptationSettings settings, @Nullable BehaviourGate gate) {
        return new SiteRefit(
                site.site(),
                site.explainer(),
                site.geometry().explainerSubspace(),
                site.baseline().rows(),
                site.settings().rank(),
                settings,
                site.codes(),
                gate);
    }

    /** Returns the gate, or null where the site names no rest of its model, or lets nothing be judged by it. */
    private static @Nullable BehaviourGate gate(WatchedSite site, SelectBy selectBy, @Nullable BehaviourProbe probe) {
        DownstreamSettings downstream = site.settings().downstream();
        return probe == null || downstream == null || !downstream.gate()
                ? null
                : new BehaviourGate(probe, selectBy, site.baseline().wholeRequests());
    }

    /** Returns the refit of a site with one target. */
    SiteRefit refit() {
        return blocks.get(0).refit();
    }

    /** Returns the explainer of a site with one target. */
    Explainer explainer() {
        return blocks.get(0).explainer();
    }

    /** Returns the block of a target layer, or null. */
    @Nullable
    Block block(int target) {
        for (Block block : blocks) {
            if (Integer.valueOf(target).equals(block.id().target())) {
                return block;
            }
        }
        return null;
    }

    RowPools.Limits poolLimits() {
        return new RowPools.Limits(settings.pooledRows(), settings.pooledAge());
    }
}
