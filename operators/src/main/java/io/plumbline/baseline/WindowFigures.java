package io.plumbline.baseline;

import io.plumbline.geometry.Statistic;
import java.util.List;
import java.util.Map;

/** Measures what its rows alone do not say of a clean window: what the rest of a model does with its requests. */
public interface WindowFigures {

    /**
     * Returns the statistics of a window, without those that are undefined there.
     *
     * @param requests places of the window's requests in the recording, from 0, ascending
     */
    Map<Statistic, Double> of(List<Integer> requests);
}
