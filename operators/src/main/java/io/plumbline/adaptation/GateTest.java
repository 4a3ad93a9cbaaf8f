package io.plumbline.adaptation;

import java.util.List;

/**
 * One test of the gate.
 *
 * @param name {@code improvement}, {@code gap}, {@code features}, {@code id_cost}, {@code watched} or {@code
 *     behaviour}
 * @param passed whether it lets the refit through; a test that could not be made for want of rows of the baseline does
 * @param finding the figures and what was expected of them, a sentence without a full stop
 */
public record GateTest(String name, boolean passed, String finding) {

    public static final String IMPROVEMENT = "improvement";
    public static final String GAP = "gap";
    public static final String FEATURES = "features";
    public static final String ID_COST = "id_cost";
    public static final String WATCHED = "watched";
    public static final String BEHAVIOUR = "behaviour";

    /** Every test, in the order in which they are made. */
    public static final List<String> NAMES = List.of(IMPROVEMENT, GAP, FEATURES, ID_COST, WATCHED, BEHAVIOUR);
}
