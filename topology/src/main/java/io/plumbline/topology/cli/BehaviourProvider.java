package io.plumbline.topology.cli;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.baseline.WindowFigures;
import io.plumbline.causal.HeadLocation;
import io.plumbline.comparison.Estimate;
import io.plumbline.explainer.Explainer;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges refits by what the model does, where the jars that run a head stand on the class path: found by
 * {@link java.util.ServiceLoader}.
 */
public interface BehaviourProvider {

    /**
     * Opens the head and the dumps.
     *
     * @throws UsageException when one of them cannot be used
     */
    Opened open(Asked asked) throws IOException;

    /**
     * Opens the head and clean dumps, for a baseline.
     *
     * @param most requests of a window that are run, and that are kept whole
     * @throws UsageException when one of them cannot be used
     */
    Clean openClean(HeadLocation head, Explainer explainer, List<Path> dumps, int most) throws IOException;

    /**
     * Runs the rest of the model on requests before and after a change of what comes before it.
     *
     * @param before dumps of whole requests, in the order of those of {@code after}
     * @throws UsageException when one of them, or the head, cannot be used
     */
    OutputChange change(HeadLocation head, Explainer explainer, List<Path> before, List<Path> after) throws IOException;

    /**
     * How far the output of a model moves.
     *
     * @param kl mean of {@code KL(before || after)} over all rows but the first of each request, in nats; null where no
     *     request has such a row
     * @param requests that were run
     * @param leftOut requests of one row, or with a row that is not finite
     */
    record OutputChange(@JsonIgnore @Nullable Estimate kl, int requests, int leftOut) {}

    /** Clean requests and what the model does with them; holds files open. */
    interface Clean extends WindowFigures, Closeable {

        /** Returns a uniform sample of whole requests, each as a record, of at most so many bytes together. */
        List<byte[]> sample(long mostBytes);
    }

    /**
     * Says what is to be judged, and on what.
     *
     * @param heldOut dumps of whole requests
     * @param requests places of the requests to judge on, counted over all of these dumps from 0; null: all
     * @param choosing what candidates are chosen by; null: by FVU
     * @param inDistribution dumps of whole requests of normal traffic, or none
     * @param maximumGrowth share by which the KL on normal traffic may exceed the trained decoder's
     */
    record Asked(
            HeadLocation head,
            Explainer explainer,
            List<Path> heldOut,
            @Nullable Set<Long> requests,
            @Nullable Choosing choosing,
            List<Path> inDistribution,
            double maximumGrowth) {}

    /**
     * The requests to choose a candidate by.
     *
     * @param requests their places, counted over all of these dumps from 0
     */
    record Choosing(List<Path> dumps, Set<Long> requests) {}

    /** A judge that holds files open. */
    interface Opened extends BehaviourJudge, Closeable {}
}
