/**
 * Finds groups of requests that are unlike the baseline's and like each other.
 *
 * <p><b>Enters:</b> {@link io.plumbline.requests.RequestTotal}s of one window or several. <b>Leaves:</b>
 * {@link io.plumbline.groups.TrafficGroup}s: how many requests, how sure, and whether the baseline has such requests.
 *
 * <p><b>The decision.</b> A score says of each request how far it is, and two odd requests have little to do with each
 * other. Requests of one new kind lie in the same direction, so a few of them are evidence that no score of single
 * requests has, and the group answers what is new. Only unusual requests are grouped: usual ones have groups as well,
 * by topic, and there are ten times as many of them.
 *
 * <p><b>Bounded and mergeable.</b> {@link io.plumbline.groups.UnusualRequests} is kept in parts and merged in any
 * order, as moments are; grouping starts from the merged pool each time. Groups themselves could not be merged: average
 * linkage of a whole is not that of its parts.
 *
 * <p><b>A kind that is a few percent of the baseline's requests</b> is usual by the scores, whose precision has learnt
 * its direction. It is unusual by its length, so it is seen when it grows ({@link io.plumbline.groups.GroupSpace}).
 */
@NullMarked
package io.plumbline.groups;

import org.jspecify.annotations.NullMarked;
