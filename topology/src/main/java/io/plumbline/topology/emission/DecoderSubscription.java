package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says what a {@link DecoderSubscriber} takes, and how much it may cost. Immutable.
 *
 * <p><b>Disk.</b> The chunks of a version wait for their manifest in a file without a name in {@code spoolFolder}: the
 * artefact's length for each version that is being written, and never more than {@code mostSpooled} together; above it
 * the version begun first is given up, and its manifest refused.
 *
 * <p><b>Heap.</b> 4 bytes a weight for a version that passed every check, 8 where it travels as F64 and its weights are
 * no floats. Where the trained decoders are known, only their own shapes pass; where they are not, an artefact of n
 * bytes can hold n/2 weights.
 *
 * @param parents the trained decoders held, by site: several where a candidate may take the place of an explainer;
 *     other sites are ignored. Null: every site, parent unchecked
 * @param largestArtefact bytes above which a version is refused
 * @param mostSpooled bytes of all unfinished versions together
 * @param spoolFolder where they wait; a folder on a disk, since one in memory would not spare any
 * @param trusted public keys: one of them must have signed what is handed out; null: signatures are not
 *     checked
 */
public record DecoderSubscription(
        @Nullable Map<String, List<Parent>> parents,
        long largestArtefact,
        long mostSpooled,
        Path spoolFolder,
        @Nullable TrustedKeys trusted) {

    /** The most bytes of all unfinished versions together, unless told otherwise. */
    public static final long DEFAULT_MOST_SPOOLED = 8L << 30;

    /** The most bytes of header and lineage of an artefact; what a manifest record can hold. */
    static final long LARGEST_HEADER = 1L << 20;

    /**
     * A trained decoder that is held.
     *
     * @param sha256 its {@link Decoder#sha256()}
     * @param features 0 where the shape is not known
     * @param dimension 0 where the shape is not known
     */
    public record Parent(String sha256, int features, int dimension) {

        /** Returns the parent that a trained decoder is, in one pass over the weights. */
        public static Parent of(Decoder trained) {
            return new Parent(trained.sha256(), trained.features(), trained.dimension());
        }

        boolean knowsShape() {
            return features > 0;
        }

        long largestArtefact() {
            return knowsShape()
                    ? Double.BYTES * ((long) features * dimension + dimension) + LARGEST_HEADER
                    : Long.MAX_VALUE;
        }
    }

    public DecoderSubscription {
        parents = parents == null ? null : Map.copyOf(parents);
        if (largestArtefact < 1 || mostSpooled < 1) {
            throw new IllegalArgumentException(
                    "largest artefact = %d bytes, most spooled = %d bytes: expected at least 1"
                            .formatted(largestArtefact, mostSpooled));
        }
    }

    /**
     * Subscribes to decoders made from these trained ones, by site; what is larger than they could be is refused
     * unread.
     */
    public static DecoderSubscription of(Map<String, Decoder> trained) {
        Map<String, List<Parent>> parents = new HashMap<>();
        trained.forEach((site, decoder) -> parents.put(site, List.of(Parent.of(decoder))));
        return standard(parents);
    }

    /**
     * Returns this subscription with another trained decoder of a site: that of a candidate explainer, which may take
     * the place of the site's own. The manifest of what is handed out names the one it belongs to
     * ({@link DecoderManifest#parentSha256}).
     */
    public DecoderSubscription or(String site, Decoder trained) {
        Map<String, List<Parent>> more = new HashMap<>(Objects.requireNonNull(parents, "every site is followed"));
        more.merge(site, List.of(Parent.of(trained)), (held, added) -> Stream.concat(held.stream(), added.stream())
                .toList());
        return new DecoderSubscription(more, largestArtefact, mostSpooled, spoolFolder, trusted);
    }

    /** Makes a subscription where only the SHA-256 of the trained decoders is at hand. */
    public static DecoderSubscription ofParents(Map<String, String> sha256) {
        Map<String, List<Parent>> parents = new HashMap<>();
        sha256.forEach((site, hash) -> parents.put(site, List.of(new Parent(hash, 0, 0))));
        return standard(parents);
    }

    /**
     * Subscribes to the candidates of a site, made from this trained decoder: they appear under a name of their own.
     */
    public static DecoderSubscription ofCandidates(String site, Decoder trained) {
        return of(Map.of(DecoderKey.candidatesOf(site), trained));
    }

    /** Returns this subscription with candidates of a site that were made from another trained decoder. */
    public DecoderSubscription orCandidates(String site, Decoder trained) {
        return or(DecoderKey.candidatesOf(site), trained);
    }

    /** Subscribes to every site, parent unchecked: to list what is there. */
    public static DecoderSubscription everything() {
        return standard(null);
    }

    private static DecoderSubscription standard(@Nullable Map<String, List<Parent>> parents) {
        return new DecoderSubscription(
                parents,
                DecoderManifest.LARGEST_ARTEFACT,
                DEFAULT_MOST_SPOOLED,
                Path.of(System.getProperty("java.io.tmpdir")),
                null);
    }

    /** Returns this subscription with another cap on one version. */
    public DecoderSubscription withLargestArtefact(long bytes) {
        return new DecoderSubscription(parents, bytes, mostSpooled, spoolFolder, trusted);
    }

    /** Returns this subscription with another cap on all unfinished versions together. */
    public DecoderSubscription withMostSpooled(long bytes) {
        return new DecoderSubscription(parents, largestArtefact, bytes, spoolFolder, trusted);
    }

    /** Returns this subscription with another folder for unfinished versions. */
    public DecoderSubscription spooledIn(Path folder) {
        return new DecoderSubscription(parents, largestArtefact, mostSpooled, folder, trusted);
    }

    /** Returns this subscription to what one of these keys signed; all else is refused. */
    public DecoderSubscription signedBy(TrustedKeys keys) {
        return new DecoderSubscription(parents, largestArtefact, mostSpooled, spoolFolder, keys);
    }

    boolean follows(String site) {
        return parents == null || parents.containsKey(site);
    }

    /** Returns the trained decoders that are held of a site; null: parents are not checked. */
    @Nullable
    List<Parent> parents(String site) {
        return parents == null ? null : parents.get(site);
    }

    long largestArtefact(String site) {
        List<Parent> held = parents(site);
        return held == null
                ? largestArtefact
                : Math.min(
                        largestArtefact,
                        held.stream().mapToLong(Parent::largestArtefact).max().orElse(0));
    }
}
