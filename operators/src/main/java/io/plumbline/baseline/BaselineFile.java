package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskRules;
import io.plumbline.moments.SecondMoment;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsException.Fault;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The layout of a baseline file.
 *
 * <pre>
 * metadata   format = plumbline-baseline, version = 1, explainer_sha256,
 *            content_sha256, the file's checksum of itself: see {@link SafetensorsWriter#sealed},
 *            created (ISO-8601, UTC), source, revision, parent_sha256: see {@link Provenance}; may be missing
 * tensor                                  shape           type  meaning
 * rows                                    [1]             I64   n
 * moment_state                            [d + d(d+1)/2]  F64   sum of rows, then the packed triangle of sum y y^T
 * reconstruction_moment                   [d, d]          F64   E[yhat yhat^T]
 * reconstruction_fvu                      [1]             F64
 * requests                                [1]             I64   G; this and the next may be missing
 * design_effect                           [2]             F64   of the second moment, of the mean, see {@link Grouping}
 * median_norm                             [1]             F64   of rows not masked by token, see {@link Masking}
 * mask_token_ids                          [m]             I64   missing, as is the next, where nothing is masked so
 * mask_norm_cap                           [1]             F64
 * encoded_rows                            [1]             I64   at most so many rows of a clean window were encoded
 * request_basis                           [p, d]          F64   missing, as the next four, without {@link RequestModel}
 * request_location                        [p]             F64
 * request_rows                            [1]             F64   mean number of rows of a request
 * request_scores                          [B]             F64   of its request means, cross-fitted, ascending
 * request_lengths                         [B]             F64   of their deviations, ascending, see
 *                                                               {@link io.plumbline.groups.GroupSpace}; may be missing
 * request_fvu_scores.N                    [F]             F64   their FVU of N rows, ascending, see
 *                                                               {@link RanksByRows}; N = 2, 3, 4, ...; may be missing
 * request_evidence_scores.N               [F]             F64   their evidence in mean and FVU of N rows together,
 *                                                               ascending; may be missing
 * group_means                             [g, p]          F64   {@link io.plumbline.groups.KnownGroups}, may be missing
 * group_shares                            [g]             F64   of each group among the requests
 * windows.RANK.ROWS.STATISTIC             [windows]       F64   one statistic in clean windows, NaN: undefined
 * feature_requests                        [2]             I64   G, sum n_g^2; these six may be missing
 * feature_active_rows                     [k]             I64   see {@link io.plumbline.features.FeatureActivity}
 * feature_active_requests                 [k]             I64
 * feature_squared_active_rows             [k]             I64
 * feature_active_times_rows               [k]             I64
 * feature_activation                      [k]             F64
 * sample_requests                         [q]             I64   names of the requests with kept rows
 * sample_request_offsets                  [q + 1]         I64   rows of request i: offsets[i] .. offsets[i + 1] - 1
 * sample_activations                      [n, d_in]       see below
 * sample_targets                          [n, d]          transcoders only
 * whole_request_offsets                   [w + 1]         I64   these five may be missing: whole requests
 * whole_activations, whole_targets        [n, d_in], [n, d]   narrowest type, as below; targets of transcoders only
 * whole_residual                          [n, d]          narrowest type, as below; transcoders only
 * whole_token_ids                         [n]             I64
 * mean, second_moment                     [d], [d, d]     F64   for other programs; not read back
 * </pre>
 *
 * <p>Kept rows have the narrowest of F16, BF16 and F32 that holds every value exactly: 2,048 rows of width 768 are 3 or
 * 6 MB. A file of another version is refused with the command that makes another.
 */
final class BaselineFile {

    static final String FORMAT = "plumbline-baseline";
    static final String VERSION = "1";
    private static final String REMEDY =
            "copy the file again from where it was made, or run `plumbline baseline` again";
    private static final String ACTIVATIONS = "activations";
    private static final Set<String> DECODERS = Set.of("W_dec", "w_dec", "W_D", "decoder.weight");
    private static final String CREATED = "created";
    private static final String SOURCE = "source";
    private static final String REVISION = "revision";
    private static final String PARENT = "parent_sha256";
    private static final String WINDOWS = "windows";
    private static final String REQUESTS = "requests";
    private static final String DESIGN_EFFECT = "design_effect";
    private static final String MEDIAN_NORM = "median_norm";
    private static final String ENCODED_ROWS = "encoded_rows";
    private static final String MASK_TOKEN_IDS = "mask_token_ids";
    private static final String MASK_NORM_CAP = "mask_norm_cap";

    private BaselineFile() {}

    static SafetensorsWriter writer(Baseline baseline) {
        SafetensorsWriter writer = SafetensorsWriter.create()
                .metadata("format", FORMAT)
                .metadata("version", VERSION)
                .metadata("explainer_sha256", baseline.explainerSha256())
                .addLongs("rows", baseline.rowCount())
                .addVector("moment_state", DType.F64, baseline.moment().state())
                .addVector("mean", DType.F64, baseline.moment().mean())
                .add("second_moment", DType.F64, baseline.moment().matrix())
                .add("reconstruction_moment", DType.F64, baseline.reconstructionMoment())
                .addVector("reconstruction_fvu", DType.F64, new double[] {baseline.reconstructionFvu()});
        Grouping grouping = baseline.grouping();
        if (grouping != null) {
            writer.addLongs(REQUESTS, grouping.requests()).addVector(DESIGN_EFFECT, DType.F64, new double[] {
                grouping.momentDesignEffect(), grouping.meanDesignEffect()
            });
        }
        addMasking(writer, baseline.masking());
        writer.addLongs(ENCODED_ROWS, baseline.encodedRows());
        KeptRequests.write(writer, baseline.requests());
        KeptGroups.write(writer, baseline.groups());
        KeptActivity.write(writer, baseline.activity());
        KeptWhole.write(writer, baseline.wholeRequests());
        for (NullSample sample : baseline.samples()) {
            sample.statistics()
                    .forEach((statistic, values) -> writer.addVector(
                            "%s.%d.%d.%s".formatted(WINDOWS, sample.rank(), sample.rowsPerWindow(), statistic),
                            DType.F64,
                            values));
        }
        Provenance provenance = baseline.provenance();
        if (provenance != null) {
            writer.metadata(CREATED, provenance.created().toString())
                    .metadata(SOURCE, provenance.source())
                    .metadata(REVISION, Long.toString(provenance.revision()));
            if (provenance.parent() != null) {
                writer.metadata(PARENT, provenance.parent());
            }
        }
        return KeptRows.write(writer, baseline.rows()).sealed();
    }

    /** Says what a file of tensors is that is no baseline. */
    private static String otherContent(Safetensors tensors) {
        if (tensors.contains(ACTIVATIONS)) {
            return "it holds activations, rows that --activations takes";
        }
        return tensors.names().stream().anyMatch(DECODERS::contains)
                ? "it holds weights of an explainer, which --explainer takes"
                : "it holds the tensors %s"
                        .formatted(tensors.names().stream().limit(10).toList());
    }

    static Baseline read(Path file) throws IOException {
        try (Safetensors tensors = Safetensors.open(file)) {
            return read(file.toString(), tensors);
        } catch (SafetensorsException broken) {
            throw new BaselineException("%s; %s".formatted(broken.getMessage(), REMEDY), broken);
        }
    }

    static int dimension(Path file) throws IOException {
        try (Safetensors tensors = Safetensors.open(file)) {
            return tensor(file.toString(), tensors, "reconstruction_moment", DType.F64)
                    .size(0);
        }
    }

    static int requestComponents(Path file) throws IOException {
        try (Safetensors tensors = Safetensors.open(file)) {
            return KeptRequests.components(tensors);
        }
    }

    static Baseline read(String name, Safetensors tensors) throws IOException {
        boolean isSealed = tensors.isSealed();
        if (isSealed) {
            requireUnchanged(name, tensors); // before anything is said about what the file holds
        }
        Map<String, String> metadata = tensors.metadata();
        if (!FORMAT.equals(metadata.get("format"))) {
            throw new BaselineException(
                    "%s is no baseline: %s; expected a file that `plumbline baseline` wrote"
                            .formatted(name, otherContent(tensors)),
                    new SafetensorsException(Fault.OTHER_FILE, name));
        }
        if (!VERSION.equals(metadata.get("version"))) {
            throw new BaselineException(("%s: version %s of the baseline format, this program reads %s, "
                            + "which carries a checksum of itself; run `plumbline baseline` again")
                    .formatted(name, metadata.get("version"), VERSION));
        }
        if (!isSealed) {
            requireUnchanged(name, tensors);
        }
        long rows = vector(name, tensors, "rows", 1, DType.I64).toLongs()[0];
        if (rows < 1) {
            throw new BaselineException("%s: rows = %d, expected 1 or more".formatted(name, rows));
        }
        Tensor square = tensor(name, tensors, "reconstruction_moment", DType.F64);
        if (square.shape().size() != 2
                || !square.shape().get(0).equals(square.shape().get(1))) {
            throw new BaselineException("%s: tensor \"reconstruction_moment\" has shape %s, expected [d, d]"
                    .formatted(name, square.shape()));
        }
        long dimension = square.shape().get(0);
        double[] state = finite(
                name, vector(name, tensors, "moment_state", dimension + dimension * (dimension + 1) / 2, DType.F64));
        double fvu = vector(name, tensors, "reconstruction_fvu", 1, DType.F64).toDoubles()[0];
        int width = Math.toIntExact(dimension);
        String sha256 = metadata.getOrDefault("explainer_sha256", "");
        if (!sha256.matches("[0-9a-f]{64}")) {
            throw new BaselineException("%s: explainer_sha256 = \"%s\" in its metadata, expected 64 hexadecimal digits"
                    .formatted(name, sha256));
        }
        return new Baseline(
                sha256,
                SecondMoment.ofState(width, rows, state),
                new Matrix(width, width, finite(name, square)),
                fvu,
                grouping(name, tensors),
                samples(name, tensors),
                masking(name, tensors),
                KeptRows.read(name, tensors, width),
                encodedRows(name, tensors),
                KeptRequests.read(name, tensors, width),
                KeptGroups.read(name, tensors),
                KeptActivity.read(name, tensors, rows),
                KeptWhole.read(name, tensors, width),
                provenance(name, metadata, tensors.checksum()));
    }

    private static int encodedRows(String name, Safetensors tensors) {
        long rows = vector(name, tensors, ENCODED_ROWS, 1, DType.I64).toLongs()[0];
        if (rows < 2 || rows > Integer.MAX_VALUE) {
            throw new BaselineException("%s: encoded_rows = %d, expected 2 or more".formatted(name, rows));
        }
        return (int) rows;
    }

    private static void requireUnchanged(String name, Safetensors tensors) throws IOException {
        try {
            tensors.requireUnchanged();
        } catch (SafetensorsException changed) {
            throw new BaselineException("%s is damaged: %s; %s".formatted(name, changed.getMessage(), REMEDY), changed);
        }
    }

    private static void addMasking(SafetensorsWriter writer, Masking masking) {
        Double median = masking.medianNorm();
        Double cap = masking.rules().normCap();
        List<Long> ids = masking.rules().tokenIds();
        if (median != null) {
            writer.addVector(MEDIAN_NORM, DType.F64, new double[] {median});
        }
        if (!ids.isEmpty()) {
            writer.addLongs(
                    MASK_TOKEN_IDS, ids.stream().mapToLong(Long::longValue).toArray());
        }
        if (cap != null) {
            writer.addVector(MASK_NORM_CAP, DType.F64, new double[] {cap});
        }
    }

    private static Masking masking(String name, Safetensors tensors) {
        Tensor ids = tensors.contains(MASK_TOKEN_IDS) ? tensor(name, tensors, MASK_TOKEN_IDS, DType.I64) : null;
        try {
            MaskRules rules = new MaskRules(
                    ids == null
                            ? List.of()
                            : Arrays.stream(ids.toLongs()).boxed().toList(),
                    number(name, tensors, MASK_NORM_CAP));
            return new Masking(rules, number(name, tensors, MEDIAN_NORM));
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: %s".formatted(name, refused.getMessage()));
        }
    }

    private static @Nullable Double number(String name, Safetensors tensors, String tensor) {
        return tensors.contains(tensor)
                ? vector(name, tensors, tensor, 1, DType.F64).toDoubles()[0]
                : null;
    }

    private static @Nullable Provenance provenance(
            String name, Map<String, String> metadata, @Nullable String content) {
        String created = metadata.get(CREATED);
        if (created == null) {
            return null;
        }
        try {
            return new Provenance(
                    Instant.parse(created),
                    metadata.getOrDefault(SOURCE, ""),
                    Long.parseLong(metadata.getOrDefault(REVISION, "")),
                    metadata.get(PARENT),
                    content);
        } catch (DateTimeParseException | IllegalArgumentException refused) {
            throw new BaselineException(("%s: created = \"%s\", revision = \"%s\" in its metadata: "
                            + "expected an instant in UTC and a number: %s")
                    .formatted(name, created, metadata.get(REVISION), refused.getMessage()));
        }
    }

    private static @Nullable Grouping grouping(String name, Safetensors tensors) {
        if (!tensors.contains(REQUESTS)) {
            return null;
        }
        long requests = vector(name, tensors, REQUESTS, 1, DType.I64).toLongs()[0];
        double[] effects = finite(name, vector(name, tensors, DESIGN_EFFECT, 2, DType.F64));
        try {
            return new Grouping(requests, effects[0], effects[1]);
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: %s".formatted(name, refused.getMessage()));
        }
    }

    private static List<NullSample> samples(String name, Safetensors tensors) {
        Map<List<Integer>, Map<String, double[]>> byWindow = new LinkedHashMap<>();
        for (String tensor : tensors.names()) {
            String[] parts = tensor.split("\\.", 4);
            if (!parts[0].equals(WINDOWS)) {
                continue;
            }
            if (parts.length != 4 || !parts[1].matches("[1-9]\\d{0,8}") || !parts[2].matches("[1-9]\\d{0,8}")) {
                throw new BaselineException(
                        "%s: tensor \"%s\", expected windows.RANK.ROWS.STATISTIC".formatted(name, tensor));
            }
            Tensor values = tensor(name, tensors, tensor, DType.F64);
            if (values.shape().size() != 1) {
                throw new BaselineException("%s: tensor \"%s\" has shape %s, expected one value per window"
                        .formatted(name, tensor, values.shape()));
            }
            byWindow.computeIfAbsent(
                            List.of(Integer.valueOf(parts[1]), Integer.valueOf(parts[2])), key -> new LinkedHashMap<>())
                    .put(parts[3], finiteOrUndefined(name, values));
        }
        List<NullSample> samples = new ArrayList<>();
        try {
            byWindow.forEach((key, values) -> samples.add(new NullSample(key.get(0), key.get(1), values)));
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: %s".formatted(name, refused.getMessage()));
        }
        return samples;
    }

    static Tensor vector(String name, Safetensors tensors, String tensor, long length, DType dtype) {
        Tensor found = tensor(name, tensors, tensor, dtype);
        if (!found.shape().equals(List.of(length))) {
            throw new BaselineException(
                    "%s: tensor \"%s\" has shape %s, expected [%d]".formatted(name, tensor, found.shape(), length));
        }
        return found;
    }

    static Tensor tensor(String name, Safetensors tensors, String tensor, DType dtype) {
        if (!tensors.contains(tensor)) {
            throw new BaselineException("%s: no tensor \"%s\"; build the baseline again".formatted(name, tensor));
        }
        Tensor found = tensors.tensor(tensor);
        if (found.dtype() != dtype) {
            throw new BaselineException(
                    "%s: tensor \"%s\" is %s, expected %s".formatted(name, tensor, found.dtype(), dtype));
        }
        return found;
    }

    /** Returns the values of clean windows, NaN where a statistic was undefined. */
    private static double[] finiteOrUndefined(String name, Tensor tensor) {
        double[] values = tensor.toDoubles();
        if (Arrays.stream(values).anyMatch(Double::isInfinite)) {
            throw new BaselineException(
                    "%s: tensor \"%s\" holds a value that is not finite".formatted(name, tensor.name()));
        }
        return values;
    }

    static double[] finite(String name, Tensor tensor) {
        double[] values = tensor.toDoubles();
        if (!Arrays.stream(values).allMatch(Double::isFinite)) {
            throw new BaselineException(
                    "%s: tensor \"%s\" holds a value that is not finite".formatted(name, tensor.name()));
        }
        return values;
    }
}
