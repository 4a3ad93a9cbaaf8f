package io.plumbline.features;

import java.util.List;

/**
 * Holds the numbers of a watched feature or probe in a window. The arrays are shared, not copied.
 *
 * @param changes each number beside the baseline's
 * @param rates share of the rows of each request on which it is active, in ascending order of the requests' names
 * @param means mean code or score of each request, in the same order
 */
public record WatchedNumbers(List<WatchedChange> changes, double[] rates, double[] means) {

    public WatchedNumbers {
        changes = List.copyOf(changes);
    }
}
