package io.plumbline.topology.bench;

/**
 * What was asked for and what was found.
 *
 * @param asked the least ratio
 * @param measured the ratio of medians of one run
 */
public record Claim(String what, double asked, double measured) {

    public boolean isMet() {
        return measured >= asked;
    }
}
