package io.plumbline.topology.assessment;

import io.plumbline.groups.RecentGroups;
import org.jspecify.annotations.Nullable;

/**
 * Holds the decision about a window, as the sections of its report need it.
 *
 * @param before the memory of the site before the window
 * @param drifted whether the site is drifted with this window
 * @param deciding name of the deciding statistic
 * @param origins where the rows of the windows up to this one came from
 * @param trials of the explainer in no service, with this window
 * @param proposes whether the candidate is to be proposed
 * @param groups of like requests in the last windows; null where this one has no totals of its requests
 */
record Decision(
        SiteMemory before,
        boolean drifted,
        String deciding,
        KnownOrigins origins,
        SiteMemory.Trials trials,
        boolean proposes,
        RecentGroups.@Nullable Step groups) {}
