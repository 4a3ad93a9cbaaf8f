package io.plumbline.baseline;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The rows kept in a baseline file; the tensors are in the table of {@link BaselineFile}. */
final class KeptRows {

    private static final String REQUESTS = "sample_requests";
    private static final String OFFSETS = "sample_request_offsets";
    private static final String ACTIVATIONS = "sample_activations";
    private static final String TARGETS = "sample_targets";
    private static final List<DType> NARROWEST_FIRST = List.of(DType.F16, DType.BF16, DType.F32);

    private KeptRows() {}

    static SafetensorsWriter write(SafetensorsWriter writer, List<SampledRow> rows) {
        if (rows.isEmpty()) {
            return writer;
        }
        List<Long> requests = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        for (int row = 0; row < rows.size(); row++) {
            if (row == 0 || rows.get(row).request() != rows.get(row - 1).request()) {
                requests.add(rows.get(row).request());
                offsets.add((long) row);
            }
        }
        offsets.add((long) rows.size());
        writer.addLongs(REQUESTS, longs(requests)).addLongs(OFFSETS, longs(offsets));
        add(writer, ACTIVATIONS, rows, SampledRow::activation);
        if (rows.get(0).target() != null) {
            add(writer, TARGETS, rows, SampledRow::targetRow);
        }
        return writer;
    }

    static List<SampledRow> read(String name, Safetensors tensors, int dimension) {
        if (!tensors.contains(ACTIVATIONS)) {
            return List.of();
        }
        Tensor activations = tensors.tensor(ACTIVATIONS);
        Tensor targets = tensors.contains(TARGETS) ? tensors.tensor(TARGETS) : null;
        int rows = requireRows(name, activations, null, targets == null ? dimension : null);
        if (targets != null) {
            requireRows(name, targets, rows, dimension);
        }
        long[] requests = list(name, tensors, REQUESTS);
        long[] offsets = list(name, tensors, OFFSETS);
        requireOffsets(name, OFFSETS, requests.length, offsets, rows);
        float[] inputs = finite(name, activations);
        float[] outputs = targets == null ? null : finite(name, targets);
        List<SampledRow> read = new ArrayList<>(rows);
        for (int request = 0; request < requests.length; request++) {
            for (long row = offsets[request]; row < offsets[request + 1]; row++) {
                read.add(new SampledRow(
                        RowSample.hash(requests[request], (int) (row - offsets[request])),
                        requests[request],
                        SampledRow.NO_TIME,
                        slice(inputs, (int) row, rows),
                        outputs == null ? null : slice(outputs, (int) row, rows)));
            }
        }
        return read;
    }

    private static void add(
            SafetensorsWriter writer, String name, List<SampledRow> rows, Function<SampledRow, float[]> values) {
        int width = values.apply(rows.get(0)).length;
        Matrix matrix = Matrix.zeros(rows.size(), width);
        for (int row = 0; row < rows.size(); row++) {
            float[] from = values.apply(rows.get(row));
            for (int j = 0; j < width; j++) {
                matrix.set(row, j, from[j]);
            }
        }
        writer.add(name, narrowest(matrix.values()), matrix);
    }

    static DType narrowest(double[] values) {
        for (DType dtype : NARROWEST_FIRST) {
            int i = 0;
            while (i < values.length && dtype.rounded(values[i]) == values[i]) {
                i++;
            }
            if (i == values.length) {
                return dtype;
            }
        }
        return DType.F32;
    }

    static int requireRows(String name, Tensor tensor, @Nullable Integer rows, @Nullable Integer width) {
        List<Long> shape = tensor.shape();
        if (!NARROWEST_FIRST.contains(tensor.dtype())
                || shape.size() != 2
                || shape.get(0) < 1
                || shape.get(1) < 1
                || (rows != null && shape.get(0) != rows.longValue())
                || (width != null && shape.get(1) != width.longValue())) {
            throw new BaselineException("%s: %s, expected [%s, %s] of F16, BF16 or F32"
                    .formatted(name, tensor, rows == null ? "rows" : rows, width == null ? "width" : width));
        }
        return tensor.size(0);
    }

    static long[] list(String name, Safetensors tensors, String tensor) {
        Tensor found = BaselineFile.tensor(name, tensors, tensor, DType.I64);
        if (found.shape().size() != 1) {
            throw new BaselineException("%s: %s, expected one dimension".formatted(name, found));
        }
        return found.toLongs();
    }

    static void requireOffsets(String name, String tensor, int requests, long[] offsets, int rows) {
        boolean sound = offsets.length == requests + 1 && requests > 0 && offsets[0] == 0 && offsets[requests] == rows;
        for (int i = 1; sound && i < offsets.length; i++) {
            sound = offsets[i] > offsets[i - 1];
        }
        if (!sound) {
            throw new BaselineException(
                    "%s: tensor \"%s\" with %d entries for %d requests, expected ascending ones from 0 to %d, the rows"
                            .formatted(name, tensor, offsets.length, requests, rows));
        }
    }

    private static float[] finite(String name, Tensor tensor) {
        float[] values = tensor.toFloats();
        for (float value : values) {
            if (!Float.isFinite(value)) {
                throw new BaselineException(
                        "%s: tensor \"%s\" holds a value that is not finite".formatted(name, tensor.name()));
            }
        }
        return values;
    }

    private static float[] slice(float[] values, int row, int rows) {
        int width = values.length / rows;
        float[] slice = new float[width];
        System.arraycopy(values, row * width, slice, 0, width);
        return slice;
    }

    private static long[] longs(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }
}
