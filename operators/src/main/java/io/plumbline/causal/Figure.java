package io.plumbline.causal;

/** A value with the ends of its 95 % interval over requests, all finite. */
public record Figure(double value, double low, double high) {}
