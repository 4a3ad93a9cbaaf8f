package io.plumbline.topology.cli;

import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.judgement.Amounts;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.CleanRequests;
import io.plumbline.requests.DistinctRequests;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the rows of dumps as an adaptation wants them; the number of a request stands for its time. */
final class AdaptationDumps {

    private static final double VALIDATION_SHARE = 0.25;

    private final Explainer explainer;
    private final List<SampledRow> baselineRows;
    private final RowMask mask;

    AdaptationDumps(Explainer explainer, List<SampledRow> baselineRows, RowMask mask) {
        this.explainer = explainer;
        this.baselineRows = baselineRows;
        this.mask = mask;
    }

    /** All rows of dumps, which are one stream. */
    SampleRows read(List<Path> files) throws IOException {
        return encoded(rows(files));
    }

    /** All rows the baseline keeps, or null. */
    @Nullable
    SampleRows clean() {
        return baselineRows.isEmpty() ? null : encoded(baselineRows);
    }

    /**
     * A window in its parts.
     *
     * @param judge rows to judge on in the place of a part of the window, or null
     * @throws UsageException when there are too few requests
     */
    AdaptationRows split(List<Path> window, @Nullable SampleRows judge) throws IOException {
        DistinctRequests distinct =
                DistinctRequests.forRefit(rows(window), 1.0, CleanRequests.of(baselineRows), Set.of());
        if (distinct.refusal() != null) {
            throw new UsageException("--activations: " + distinct.refusal());
        }
        SampleSplit split = SampleSplit.of(distinct.rows(), VALIDATION_SHARE);
        if (split.fit().size() < 2 || split.choose().size() < 2) {
            throw new UsageException(
                    "--activations: %s, %s to fit on and %d to choose by; --profile auto needs several requests"
                            .formatted(
                                    distinct.count(),
                                    Amounts.count(split.fit().size(), "row"),
                                    split.choose().size()));
        }
        if (judge == null && !split.judgeIsIndependent()) {
            throw new UsageException(("--activations: %s, expected at least %d, %d of them to judge on; give more, "
                            + "or name other dumps to judge on with --validate")
                    .formatted(distinct.count(), SampleSplit.LEAST_REQUESTS, SampleSplit.LEAST_TO_JUDGE));
        }
        BaselineRows clean = BaselineRows.of(explainer.encoder(), baselineRows, explainer.targetWidth());
        String misread = clean.misread(explainer);
        if (misread != null) {
            throw new UsageException("--explainer: " + misread);
        }
        AdaptationRows rows = AdaptationRows.of(explainer.encoder(), split, clean, explainer.targetWidth());
        return judge == null
                ? rows
                : new AdaptationRows(
                        rows.fit(), rows.choose(), rows.refit(), judge, rows.all(), rows.anchor(), rows.check());
    }

    /** Measures how well decoders give back the targets of some rows, as they come. */
    interface Reconstructions {
        Reconstruction by(Decoder decoder) throws IOException;
    }

    /**
     * Returns the measure of some rows; where the decoder writes other rows than targets as they come, these are read
     * from the dumps once more.
     *
     * @param rows of whole requests of these files
     */
    Reconstructions reconstructions(SampleRows rows, List<Path> files) throws IOException {
        if (explainer.space().isPlain()) {
            return decoder -> Reconstruction.of(decoder, rows.codes(), rows.targets());
        }
        Set<Long> requests = Arrays.stream(rows.requests()).boxed().collect(Collectors.toSet());
        List<ActivationBatch> batches = new ArrayList<>();
        try (ActivationStream stream = ActivationStream.open(files, explainer, mask)) {
            stream.forEach("targets", batch -> {
                if (requests.contains(stream.place())) {
                    batches.add(batch);
                }
            });
        }
        Matrix inputs = Stacked.of(batches, ActivationBatch::activations, explainer.inputWidth());
        Matrix targets = Stacked.of(
                batches,
                batch -> explainer.space().targets(batch.activations(), batch.targetRows()),
                explainer.targetWidth());
        SparseCodes codes = explainer.encoder().encode(inputs);
        return decoder ->
                Reconstruction.between(explainer.space().toTargets(inputs, decoder.reconstruct(codes)), targets);
    }

    private SampleRows encoded(List<SampledRow> rows) {
        return SampleRows.of(explainer.encoder(), rows, explainer.targetWidth());
    }

    private List<SampledRow> rows(List<Path> files) throws IOException {
        List<SampledRow> rows = new ArrayList<>();
        try (ActivationStream stream = ActivationStream.open(files, explainer, mask)) {
            stream.forEach("reading", batch -> {
                Matrix targets = batch.targets();
                for (int row = 0; row < batch.rows(); row++) {
                    rows.add(new SampledRow(
                            rows.size(),
                            stream.place(),
                            stream.place(),
                            batch.activations().floats(row),
                            targets == null ? null : targets.floats(row)));
                }
            });
        }
        if (rows.isEmpty()) {
            throw new UsageException("%s: every row is masked".formatted(files.get(0)));
        }
        return rows;
    }
}
