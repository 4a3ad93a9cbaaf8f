package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.EncoderId;
import io.plumbline.moments.RowCodes;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Codes of sampled rows, encoded when they are needed or before.
 *
 * <p>A row's codes do not depend on the rows it is encoded with, so both give the same to the last bit.
 */
public final class SampledCodes {

    private SampledCodes() {}

    /** Codes of the rows in their order: those that came with a row where they are of this encoder, the others encoded together. */
    public static SparseCodes of(Encoder encoder, List<SampledRow> rows) {
        List<SampledRow> missing = missing(encoder, rows);
        SparseCodes encoded = encode(encoder, missing);
        if (missing.size() == rows.size()) {
            return encoded;
        }
        EncoderId own = nameFor(encoder, rows);
        SparseCodes.Builder codes = new SparseCodes.Builder(rows.size(), encoder.features());
        int next = 0;
        for (SampledRow row : rows) {
            RowCodes known = codesOf(own, row);
            if (known == null) {
                for (int entry = encoded.rowStart()[next]; entry < encoded.rowStart()[next + 1]; entry++) {
                    codes.add(encoded.feature()[entry], encoded.value()[entry]);
                }
                next++;
            } else {
                for (int entry = 0; entry < known.feature().length; entry++) {
                    codes.add(known.feature()[entry], known.value()[entry]);
                }
            }
            codes.endRow();
        }
        return codes.build();
    }

    /** The rows that have no codes of this encoder. */
    public static List<SampledRow> missing(Encoder encoder, List<SampledRow> rows) {
        EncoderId own = nameFor(encoder, rows);
        return rows.stream().filter(row -> codesOf(own, row) == null).toList();
    }

    /** The encoder's name, which takes a pass over its weights; null where no row has codes, so that nobody need know. */
    private static @Nullable EncoderId nameFor(Encoder encoder, List<SampledRow> rows) {
        return rows.stream().allMatch(row -> row.codes() == null) ? null : encoder.id();
    }

    private static @Nullable RowCodes codesOf(@Nullable EncoderId own, SampledRow row) {
        RowCodes codes = row.codes();
        return codes != null && codes.encoder().equals(own) ? codes : null;
    }

    /** The codes of each row to travel with it; null where they are too many for that, or beyond all numbers. */
    public static List<@Nullable RowCodes> ahead(Encoder encoder, List<SampledRow> rows) {
        SparseCodes codes = encode(encoder, rows);
        List<@Nullable RowCodes> ahead = new ArrayList<>(rows.size());
        for (int row = 0; row < rows.size(); row++) {
            int from = codes.rowStart()[row];
            int to = codes.rowStart()[row + 1];
            double[] values = Arrays.copyOfRange(codes.value(), from, to);
            boolean travels = to - from <= RowCodes.mostEntries(rows.get(row).values())
                    && Arrays.stream(values).allMatch(Double::isFinite);
            ahead.add(
                    travels ? new RowCodes(encoder.id(), Arrays.copyOfRange(codes.feature(), from, to), values) : null);
        }
        return ahead;
    }

    private static SparseCodes encode(Encoder encoder, List<SampledRow> rows) {
        Matrix activations = Matrix.zeros(rows.size(), encoder.inputWidth());
        for (int i = 0; i < rows.size(); i++) {
            float[] values = rows.get(i).activation();
            if (values.length != activations.columns()) {
                throw new IllegalArgumentException(
                        "sampled row %d has %d values: expected %d".formatted(i, values.length, activations.columns()));
            }
            for (int j = 0; j < values.length; j++) {
                activations.set(i, j, values[j]);
            }
        }
        return encoder.encode(activations);
    }
}
