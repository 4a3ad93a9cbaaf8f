/**
 * Keeps what a window remembers of its requests: how many rows each had and their projected sum, and whole requests.
 *
 * <p><b>Enters:</b> rows with the hash of their request. <b>Leaves:</b> {@link RequestTotals} and
 * {@link WholeRequests}, mergeable as moments are, so that a request can be judged as a whole wherever its rows were
 * read. Beyond a number of requests a uniform sample of them is kept.
 */
@NullMarked
package io.plumbline.requests;

import org.jspecify.annotations.NullMarked;
