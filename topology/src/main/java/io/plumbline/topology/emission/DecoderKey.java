package io.plumbline.topology.emission;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The key of a record of the decoders topic: {@code site} for a manifest, {@code site#index} for a chunk.
 *
 * <p>Only a plain decimal after the last {@code #} makes a chunk's key; anything else belongs to a site that has the
 * sign in its name, which our configuration refuses and another writer may have.
 *
 * @param chunk index of the chunk; {@link #MANIFEST} for a manifest
 */
record DecoderKey(String site, int chunk) {

    static final int MANIFEST = -1;

    /** The character between site and index; configuration refuses it in a site's name. */
    static final char SEPARATOR = '#';

    /**
     * The end of a site's name that names its candidates, published like a site of their own. Nobody who follows the
     * site takes one for its decoder, since the configuration allows no such name.
     */
    private static final String CANDIDATE = SEPARATOR + "candidate";

    /**
     * The end of a site's name that names the adapter's state of it, under the key of a chunk. Readers who know nothing
     * of it find a chunk of a site they do not follow, in a layout they do not know, and pass over it.
     */
    private static final String SWAPS = SEPARATOR + "swaps";

    /** The most digits of an index: more than one can have, few enough for an int. */
    private static final int LONGEST_INDEX = 9;

    static DecoderKey parse(byte[] bytes) {
        String key = new String(bytes, StandardCharsets.UTF_8);
        int separator = key.lastIndexOf(SEPARATOR);
        String index = separator < 0 ? "" : key.substring(separator + 1);
        return isIndex(index)
                ? new DecoderKey(key.substring(0, separator), Integer.parseInt(index))
                : new DecoderKey(key, MANIFEST);
    }

    private static boolean isIndex(String text) {
        return !text.isEmpty()
                && text.length() <= LONGEST_INDEX
                && text.chars().allMatch(digit -> digit >= '0' && digit <= '9')
                && (text.length() == 1 || text.charAt(0) != '0');
    }

    /** The name under which the candidates of a site are published. */
    static String candidatesOf(String site) {
        return site + CANDIDATE;
    }

    /** The site whose candidates have this name, or null. */
    static @Nullable String siteOfCandidates(String name) {
        return without(CANDIDATE, name);
    }

    static byte[] ofSwaps(String site) {
        return new DecoderKey(site + SWAPS, 0).encode();
    }

    /** The site whose state has this key, or null. */
    @Nullable
    String siteOfSwaps() {
        return chunk == 0 ? without(SWAPS, site) : null;
    }

    private static @Nullable String without(String suffix, String name) {
        return name.endsWith(suffix) ? name.substring(0, name.length() - suffix.length()) : null;
    }

    boolean isManifest() {
        return chunk == MANIFEST;
    }

    byte[] encode() {
        return (isManifest() ? site : site + SEPARATOR + chunk).getBytes(StandardCharsets.UTF_8);
    }
}
