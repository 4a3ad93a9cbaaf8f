package io.plumbline.topology.runtime;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The sizes of what the target layers of one configured site share: the encoders, all of them in the largest block, and
 * the one decoder that is published and swapped for all of them.
 */
final class SharedTargets {

    private final Map<String, Shared> groups = new LinkedHashMap<>();
    private final HeapRegion region;

    /** The largest of each, and the width of all targets. */
    private record Shared(double encoder, int features, long width, int weightBytes, boolean adapts) {

        Shared with(SiteSizes block, HeapRegion region) {
            return new Shared(
                    Math.max(encoder, block.encoder(region)),
                    Math.max(features, block.shape().features()),
                    width + block.shape().targetWidth(),
                    Math.max(weightBytes, block.shape().decoderWeightBytes()),
                    adapts || block.adapts());
        }
    }

    SharedTargets(List<SiteSizes> sites, HeapRegion region) {
        this.region = region;
        for (SiteSizes site : sites) {
            if (site.id().isBlock()) {
                Shared before = groups.getOrDefault(site.id().group(), new Shared(0, 0, 0, 0, false));
                groups.put(site.id().group(), before.with(site, region));
            }
        }
    }

    /** Returns the bytes of the encoders. */
    double encoders() {
        return groups.values().stream().mapToDouble(Shared::encoder).sum();
    }

    /** Returns the bytes of one joint decoder of each site that adapts. */
    double joint() {
        return groups.values().stream()
                .filter(Shared::adapts)
                .mapToDouble(one -> region.array((double) one.features() * one.width(), one.weightBytes()))
                .sum();
    }
}
