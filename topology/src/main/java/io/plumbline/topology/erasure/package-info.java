/**
 * Finds and takes out what lies of one request in the bytes that Plumbline keeps.
 *
 * <p>Samples, totals and whole requests know a request by the hash of its name, reports by the name itself.
 * {@link io.plumbline.topology.erasure.RequestTrace} looks for both in the bytes of any record, whatever wrote it, and
 * {@link io.plumbline.topology.erasure.ErasedState} takes the request out of an entry of a change-log. The first checks
 * the second: bytes that still show a trace are an error.
 *
 * <p>Moments, counts and the centres of groups stay. They are sums over rows of many requests, and hold no name.
 */
@NullMarked
package io.plumbline.topology.erasure;

import org.jspecify.annotations.NullMarked;
