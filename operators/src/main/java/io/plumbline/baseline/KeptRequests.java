package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The part of a {@link BaselineFile} that says how its requests differ. */
final class KeptRequests {

    private static final String BASIS = "request_basis";
    private static final String LOCATION = "request_location";
    private static final String ROWS = "request_rows";
    private static final String SCORES = "request_scores";
    private static final String LENGTHS = "request_lengths";
    private static final String FVU_SCORES = "request_fvu_scores.";
    private static final String EVIDENCE_SCORES = "request_evidence_scores.";

    private KeptRequests() {}

    static void write(SafetensorsWriter writer, @Nullable RequestModel model) {
        if (model == null) {
            return;
        }
        writer.add(BASIS, DType.F64, model.basis())
                .addVector(LOCATION, DType.F64, model.location())
                .addVector(ROWS, DType.F64, new double[] {model.usualRows()})
                .addVector(SCORES, DType.F64, model.baselineScores());
        if (model.lengths().length > 0) {
            writer.addVector(LENGTHS, DType.F64, model.lengths());
        }
        write(writer, FVU_SCORES, model.reconstructions());
        write(writer, EVIDENCE_SCORES, model.both());
    }

    private static void write(SafetensorsWriter writer, String prefix, @Nullable RanksByRows ranks) {
        if (ranks != null) {
            ranks.steps()
                    .forEach(step -> writer.addVector(
                            prefix + step.rows(), DType.F64, step.ranks().scores()));
        }
    }

    /** Returns how many numbers are kept of a request's sum; 0 where the file has no model. */
    static int components(Safetensors tensors) {
        return tensors.contains(BASIS)
                ? Math.toIntExact(tensors.tensor(BASIS).shape().get(0))
                : 0;
    }

    /** Reads the model; null where the file has none. */
    static @Nullable RequestModel read(String name, Safetensors tensors, int dimension) {
        if (!tensors.contains(BASIS)) {
            return null;
        }
        Tensor basis = BaselineFile.tensor(name, tensors, BASIS, DType.F64);
        if (basis.shape().size() != 2
                || basis.shape().get(1) != dimension
                || basis.shape().get(0) > dimension) {
            throw new BaselineException("%s: tensor \"%s\" has shape %s, expected [p, %d] with p up to %d"
                    .formatted(name, BASIS, basis.shape(), dimension, dimension));
        }
        int components = Math.toIntExact(basis.shape().get(0));
        try {
            return new RequestModel(
                    new Matrix(components, dimension, BaselineFile.finite(name, basis)),
                    BaselineFile.vector(name, tensors, LOCATION, components, DType.F64)
                            .toDoubles(),
                    BaselineFile.vector(name, tensors, ROWS, 1, DType.F64).toDoubles()[0],
                    scores(name, tensors, SCORES),
                    tensors.contains(LENGTHS) ? vector(name, tensors, LENGTHS).toDoubles() : new double[0],
                    ranks(name, tensors, FVU_SCORES),
                    ranks(name, tensors, EVIDENCE_SCORES));
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: its model of requests: %s".formatted(name, refused.getMessage()));
        }
    }

    private static @Nullable RanksByRows ranks(String name, Safetensors tensors, String prefix) {
        List<RanksByRows.Step> steps = RanksByRows.ROWS.stream()
                .filter(rows -> tensors.contains(prefix + rows))
                .map(rows -> new RanksByRows.Step(rows, scores(name, tensors, prefix + rows)))
                .toList();
        return steps.isEmpty() ? null : new RanksByRows(steps);
    }

    private static Tensor vector(String name, Safetensors tensors, String tensor) {
        Tensor vector = BaselineFile.tensor(name, tensors, tensor, DType.F64);
        if (vector.shape().size() != 1) {
            throw new BaselineException("%s: tensor \"%s\" has shape %s, expected one number per request"
                    .formatted(name, tensor, vector.shape()));
        }
        return vector;
    }

    private static ScoreRanks scores(String name, Safetensors tensors, String tensor) {
        try {
            return ScoreRanks.of(vector(name, tensors, tensor).toDoubles());
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: tensor \"%s\": %s".formatted(name, tensor, refused.getMessage()));
        }
    }
}
