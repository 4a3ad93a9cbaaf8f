package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.JointDecoder;
import io.plumbline.geometry.Subspace;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import io.plumbline.topology.ingest.SiteId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A site that adapts, and who decides what becomes of its decoder.
 *
 * @param site the name under which its decoders are published
 * @param blocks the blocks of a site with several targets, or the site itself
 * @param joint how the decoders of the blocks lie in that of the site
 * @param trainedSha256 of the trained decoder that is published when it returns
 * @param ofCandidate the same site as its candidate explains it; null: none that may take its place
 */
record SiteAdapter(
        String site,
        List<Block> blocks,
        JointDecoder joint,
        SwapDesk desk,
        AdaptationSettings settings,
        Duration cooldown,
        String trainedSha256,
        @Nullable SiteAdapter ofCandidate) {

    /**
     * Returns the adapter for the explainer in service.
     *
     * @param explainerSha256 names it; null: the site's own
     */
    SiteAdapter of(@Nullable String explainerSha256) {
        return ofCandidate != null && ofCandidate.trainedSha256.equals(explainerSha256) ? ofCandidate : this;
    }

    /** One target layer, or a site with one target. */
    record Block(SiteId id, SiteRefit refit, Explainer explainer) {

        String site() {
            return id.name();
        }

        /** Returns a sentence about this block for the report of the site. */
        String says(String sentence) {
            return id.isBlock() ? "%s: %s".formatted(id.block(), sentence) : sentence;
        }
    }

    /** Returns those of all sites that adapt, by the names under which their decoders are published. */
    static Map<String, SiteAdapter> all(
            Map<String, WatchedSite> sites,
            Map<String, AdaptationSettings> settings,
            Map<String, SwapRules> rules,
            Map<String, BehaviourProbe> probes,
            PublishedCandidates published) {
        Map<String, WatchedTargets> targets = WatchedTargets.of(sites);
        Map<String, SiteAdapter> adapters = new HashMap<>();
        settings.forEach((name, own) -> adapters.put(
                name,
                of(
                        Objects.requireNonNull(targets.get(name), name),
                        own,
                        Objects.requireNonNull(rules.get(name), name),
                        probes,
                        published)));
        return adapters;
    }

    private static SiteAdapter of(
            WatchedTargets site,
            AdaptationSettings settings,
            SwapRules rules,
            Map<String, BehaviourProbe> probes,
            PublishedCandidates published) {
        WatchedSite candidate = site.blocks().get(0).candidate();
        SwapDesk.Trained own = trained(site, settings, false);
        if (candidate == null) {
            return of(site, settings, rules, probes, published, own, null, null);
        }
        WatchedTargets explained = Objects.requireNonNull(
                WatchedTargets.of(Map.of(candidate.site(), candidate)).get(candidate.site()));
        SwapDesk.Trained next = trained(explained, settings, true);
        return of(
                site,
                settings,
                rules,
                probes,
                published,
                own,
                next,
                of(explained, settings, rules, probes, published, next, own, null));
    }

    private static SwapDesk.Trained trained(WatchedTargets site, AdaptationSettings settings, boolean isCandidate) {
        String sha256 = site.trained().sha256();
        return new SwapDesk.Trained(sha256, isCandidate, (version, lineage) -> {
            Decoder trained = site.trained();
            return new Publication(
                    version, DecoderKind.TRAINED, trained, settings.revertType(trained), lineage, sha256);
        });
    }

    private static SiteAdapter of(
            WatchedTargets site,
            AdaptationSettings settings,
            SwapRules rules,
            Map<String, BehaviourProbe> probes,
            PublishedCandidates published,
            SwapDesk.Trained trained,
            SwapDesk.@Nullable Trained other,
            @Nullable SiteAdapter ofCandidate) {
        List<Block> blocks = site.blocks().stream()
                .map(block ->
                        new Block(block.id(), refit(block, settings, probes.get(block.probe())), block.explainer()))
                .toList();
        return new SiteAdapter(
                site.site(),
                blocks,
                site.joint(),
                new SwapDesk(site.site(), rules, trained, other, published),
                settings,
                site.blocks().get(0).settings().refits().cooldown(),
                trained.sha256(),
                ofCandidate);
    }

    private static SiteRefit refit(WatchedSite site, AdaptationSettings settings, @Nullable BehaviourProbe probe) {
        return new SiteRefit(
                site.site(),
                site.explainer(),
                site.geometry().explainerSubspace(),
                site.baseline().rows(),
                site.settings().explained().rank(),
                settings,
                site.codes(),
                gate(site, settings.selectBy(), probe),
                site.settings().watch().features());
    }

    /** Returns the gate, or null where the site names no rest of its model, or lets nothing be judged by it. */
    private static @Nullable BehaviourGate gate(WatchedSite site, SelectBy selectBy, @Nullable BehaviourProbe probe) {
        DownstreamSettings downstream = site.settings().downstream();
        return probe == null || downstream == null || !downstream.gate()
                ? null
                : new BehaviourGate(probe, selectBy, site.baseline().wholeRequests());
    }

    /**
     * Returns the block of a target layer, or null.
     *
     * @param target null: the site itself
     */
    @Nullable
    Block block(@Nullable Integer target) {
        return blocks.stream()
                .filter(block -> Objects.equals(block.id().target(), target))
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the decoder in service of each block.
     *
     * @param active that of the site; null: the trained ones
     */
    List<ServingDecoder> serving(@Nullable Active active) {
        if (active == null) {
            return blocks.stream()
                    .map(block -> ServingDecoder.of(block.explainer().decoder()))
                    .toList();
        }
        // The directions of one decoder of several blocks are those of none.
        Subspace leading = blocks.size() == 1 ? active.subspace() : null;
        return joint.split(active.decoder()).stream()
                .map(decoder -> new ServingDecoder(decoder, leading))
                .toList();
    }

    RowPools.Limits poolLimits() {
        return new RowPools.Limits(settings.pooledRows(), settings.pooledAge());
    }
}
