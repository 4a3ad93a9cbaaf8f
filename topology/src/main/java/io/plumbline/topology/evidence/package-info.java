/**
 * Writes and checks a file of evidence: what was watched, what was found, who decided.
 *
 * <p>JSON Lines, UTF-8. Each line names its number ({@code line}), its {@code kind} and the SHA-256 of the line before
 * ({@code previous}; of the first 64 zeros). A line that is changed, removed, put in or moved breaks the chain where it
 * stands. The last line, {@code summary}, names the
 * period and the offsets that were read, counts the others and carries the signature of its own text before the
 * signature, which names the hash of all before: {@code "signature"} stands last and is empty where nobody signed.
 *
 * <p>Without a signature the chain tells a damaged file from a whole one, and not who wrote it.
 */
@NullMarked
package io.plumbline.topology.evidence;

import org.jspecify.annotations.NullMarked;
