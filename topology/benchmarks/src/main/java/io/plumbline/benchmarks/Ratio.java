package io.plumbline.benchmarks;

/**
 * Says how many times faster ours was than another way of doing the same.
 *
 * @param least the least of the ratios of medians that one run found
 */
public record Ratio(String what, double least) {}
