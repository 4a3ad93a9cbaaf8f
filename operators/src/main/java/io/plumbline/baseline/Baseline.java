package io.plumbline.baseline;

import io.plumbline.features.FeatureActivity;
import io.plumbline.groups.KnownGroups;
import io.plumbline.judgement.Amounts;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMoment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says what is normal at a site: the moment of clean target rows, of their reconstructions, and the statistics of clean
 * windows.
 *
 * @param explainerSha256 identity of the trained decoder the reconstructions were made with, 64 hexadecimal digits
 * @param moment of the target rows, dimension d
 * @param reconstructionMoment {@code E[yhat yhat^T]} over the same rows, d x d, uncentred
 * @param reconstructionFvu fraction of variance the trained decoder leaves unexplained on these rows
 * @param grouping how alike the rows of one request are; null where there was one request, or in older files
 * @param samples one per rank and window size asked for
 * @param masking rows that were left out of all of it
 * @param rows whole requests of the recording, request after request, for pricing a decoder on in-distribution traffic:
 *     see {@link io.plumbline.requests.RequestSample}
 * @param encodedRows rows of a clean window on which its reconstruction was measured, where it has more; at least 2
 * @param requests how its requests differ; null where they were fewer than {@link RequestModel#FEWEST_REQUESTS}
 * @param groups of its own unusual requests; null where it has no model of requests, and in files that do not say
 * @param activity how often its features are active; null in files that do not say
 * @param wholeRequests requests of the recording with all of their rows, each as a record of its own, to run the rest
 *     of a model on; empty where none were kept
 * @param provenance when it was made, of what, and what it replaces; null for one that was never meant for a file
 */
public record Baseline(
        String explainerSha256,
        SecondMoment moment,
        Matrix reconstructionMoment,
        double reconstructionFvu,
        @Nullable Grouping grouping,
        List<NullSample> samples,
        Masking masking,
        List<SampledRow> rows,
        int encodedRows,
        @Nullable RequestModel requests,
        @Nullable KnownGroups groups,
        @Nullable FeatureActivity activity,
        List<byte[]> wholeRequests,
        @Nullable Provenance provenance) {

    public Baseline {
        samples = List.copyOf(samples);
        rows = List.copyOf(rows);
        wholeRequests = List.copyOf(wholeRequests);
        int dimension = moment.dimension();
        if (reconstructionMoment.rows() != dimension || reconstructionMoment.columns() != dimension) {
            throw new IllegalArgumentException("a reconstruction moment of %d x %d for targets of %d"
                    .formatted(reconstructionMoment.rows(), reconstructionMoment.columns(), dimension));
        }
        if (!explainerSha256.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException(
                    "explainer sha256 = \"%s\": expected 64 hexadecimal digits".formatted(explainerSha256));
        }
        if (encodedRows < 2) {
            throw new IllegalArgumentException("%d encoded rows: expected 2 or more".formatted(encodedRows));
        }
        if (requests != null && requests.projection().dimension() != dimension) {
            throw new IllegalArgumentException("a model of requests of dimension %d in a baseline of dimension %d"
                    .formatted(requests.projection().dimension(), dimension));
        }
        if (groups != null
                && (requests == null
                        || groups.means().columns() != requests.projection().components())) {
            throw new IllegalArgumentException("groups of requests of %d components without a model of as many"
                    .formatted(groups.means().columns()));
        }
        for (SampledRow row : rows) {
            if (row.targetRow().length != dimension) {
                throw new IllegalArgumentException("a kept row of %d targets in a baseline of dimension %d"
                        .formatted(row.targetRow().length, dimension));
            }
        }
    }

    public int dimension() {
        return moment.dimension();
    }

    /** Returns this baseline with another account of where it comes from. */
    public Baseline with(Provenance other) {
        return with(samples, wholeRequests, other);
    }

    /** Returns this baseline with other whole requests. */
    public Baseline keepingWhole(List<byte[]> other) {
        return with(samples, other, provenance);
    }

    /**
     * Returns this baseline for a site that is judged as one with others of its model: its clean windows of a rank, as
     * far as the others have them too, with what decides at the others. Each statistic so has a level at which a clean
     * window is above in any of them, at any site, as seldom as one statistic by itself would be.
     *
     * @param rank that the site is watched at
     * @throws IllegalArgumentException when there is no window that all of them have, with what to do about it
     */
    public Baseline judgedWith(int rank, List<NullSample.OtherSite> others) {
        List<NullSample> together = samplesOf(rank).stream()
                .flatMap(sample -> sample.with(others).stream())
                .toList();
        if (together.isEmpty()) {
            throw new IllegalArgumentException(
                    ("its baseline has no clean window of rank %d that the others have, too: make the baselines of all "
                                    + "sites from the same requests in the same order, by `plumbline baseline --model`")
                            .formatted(rank));
        }
        return with(together, wholeRequests, provenance);
    }

    /** Returns this baseline for what is judged at its site alone, such as warnings. */
    public Baseline byItself() {
        return with(samples.stream().map(NullSample::byItself).toList(), wholeRequests, provenance);
    }

    /** Returns how many sites are judged as one with this one, itself among them. */
    int sitesTogether() {
        return samples.stream().mapToInt(NullSample::sites).max().orElse(1);
    }

    private Baseline with(
            List<NullSample> otherSamples, List<byte[]> otherWholeRequests, @Nullable Provenance otherProvenance) {
        return new Baseline(
                explainerSha256,
                moment,
                reconstructionMoment,
                reconstructionFvu,
                grouping,
                otherSamples,
                masking,
                rows,
                encodedRows,
                requests,
                groups,
                activity,
                otherWholeRequests,
                otherProvenance);
    }

    /** Returns how many rows the moments are of; {@link #rows} are the few of them that were kept. */
    public long rowCount() {
        return moment.rows();
    }

    /** The clean windows of this rank and size, if they were asked for when the baseline was built. */
    public Optional<NullSample> sample(int rank, int rowsPerWindow) {
        return samples.stream()
                .filter(sample -> sample.rank() == rank && sample.rowsPerWindow() == rowsPerWindow)
                .findFirst();
    }

    /** The clean windows of this rank, smallest size first. */
    public List<NullSample> samplesOf(int rank) {
        return samples.stream()
                .filter(sample -> sample.rank() == rank)
                .sorted(Comparator.comparingInt(NullSample::rowsPerWindow))
                .toList();
    }

    /**
     * Says by which clean windows a window is judged that has another number of rows than any of them; empty where
     * there are none of the rank.
     *
     * @param minimumRows windows with fewer are undecided
     */
    public Optional<String> otherSizes(int rank, int minimumRows) {
        List<NullSample> sizes = samplesOf(rank);
        if (sizes.isEmpty()) {
            return Optional.empty();
        }
        long fewest = Math.max(minimumRows, CalibratedSizes.fewestRows(sizes));
        String largest = Amounts.count(sizes.get(sizes.size() - 1).rowsPerWindow(), "row");
        return Optional.of("a window in production is judged by the rows it holds, however long it is: %s"
                        .formatted(
                                sizes.size() == 1
                                        ? "the promise is that of %s".formatted(largest)
                                        : ("between two sizes the promise is the weaker of theirs, "
                                                        + "above %s it is that of %s")
                                                .formatted(largest, largest))
                + "; with fewer than %s it is undecided".formatted(Amounts.count(fewest, "row")));
    }

    /** Writes the file whole or not at all. */
    public void write(Path file) throws IOException {
        BaselineFile.writer(this).writeTo(file);
    }

    /**
     * Reads a file written by {@link #write}.
     *
     * @throws BaselineException when it is no baseline, one of another version, or not bit for bit what was written
     */
    public static Baseline read(Path file) throws IOException {
        return BaselineFile.read(file);
    }

    /** Returns the width of the rows that a file is of; reads its header alone. */
    public static int dimension(Path file) throws IOException {
        return BaselineFile.dimension(file);
    }

    /**
     * Reads from the header alone how many numbers are kept of a request's sum under the model of a file, 0 where it
     * has none.
     */
    public static int requestComponents(Path file) throws IOException {
        return BaselineFile.requestComponents(file);
    }
}
