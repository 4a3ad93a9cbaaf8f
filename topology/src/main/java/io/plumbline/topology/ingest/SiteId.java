package io.plumbline.topology.ingest;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A site that is watched: a configured one, or the block of one of its target layers.
 *
 * @param group name of the configured site
 * @param target the target layer of a block; null: the configured site itself is watched
 */
public record SiteId(String group, @Nullable Integer target) {

    private static final Pattern BLOCK = Pattern.compile("(.+)/targets\\.(0|[1-9]\\d{0,8})", Pattern.DOTALL);

    /** Reads the name of a site as a record's key or a person's command holds it. */
    public static SiteId parse(String name) {
        Matcher matcher = BLOCK.matcher(name);
        return matcher.matches()
                ? new SiteId(matcher.group(1), Integer.valueOf(matcher.group(2)))
                : new SiteId(name, null);
    }

    /** Returns whether this is one of the blocks of a configured site. */
    public boolean isBlock() {
        return target != null;
    }

    /** Returns the name within the configured site, {@code targets.3}; that of the site itself where it is no block. */
    public String block() {
        return target == null ? group : "targets." + target;
    }

    /** Returns the name in keys, reports and metrics: {@code clt/targets.3} of a block. */
    public String name() {
        return target == null ? group : group + "/" + block();
    }
}
