package io.plumbline.topology.ingest;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names of the sites that a configured site with several targets is watched as: {@code clt/targets.3} is the block of
 * target layer 3 of {@code clt}.
 */
public final class TargetSites {

    private static final Pattern BLOCK = Pattern.compile("(.+)/(targets\\.\\d+)", Pattern.DOTALL);

    private TargetSites() {}

    /** Returns the site of a block. */
    public static String site(String group, int target) {
        return "%s/targets.%d".formatted(group, target);
    }

    /** Returns the configured site whose block a site is; null for any other site. */
    public static @Nullable String groupOf(String site) {
        Matcher matcher = BLOCK.matcher(site);
        return matcher.matches() ? matcher.group(1) : null;
    }

    /** Returns the site that is configured: that of a block, or the site itself. */
    public static String configured(String site) {
        String group = groupOf(site);
        return group == null ? site : group;
    }

    /** Returns the target layer of the site of a block. */
    public static int targetOf(String block) {
        String name = blockOf(block);
        return Integer.parseInt(name.substring(name.lastIndexOf('.') + 1));
    }

    /** Returns the block that a site is of its group, {@code targets.3}; the site itself where it is none. */
    public static String blockOf(String site) {
        Matcher matcher = BLOCK.matcher(site);
        return matcher.matches() ? matcher.group(2) : site;
    }
}
