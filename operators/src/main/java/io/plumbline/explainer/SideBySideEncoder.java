package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import java.util.ArrayList;
import java.util.List;

/**
 * Encoders of several layers, side by side. Each encoder reads its own columns of a row; the codes of the first
 * encoder's features come first. The encoders are shared with other blocks of the same dictionary.
 */
public final class SideBySideEncoder implements Encoder {

    private final List<Encoder> parts;
    private final int inputWidth;
    private final int features;

    public SideBySideEncoder(List<Encoder> parts) {
        this.parts = List.copyOf(parts);
        inputWidth = parts.stream().mapToInt(Encoder::inputWidth).reduce(0, Math::addExact);
        features = parts.stream().mapToInt(Encoder::features).reduce(0, Math::addExact);
    }

    @Override
    public int inputWidth() {
        return inputWidth;
    }

    @Override
    public int features() {
        return features;
    }

    @Override
    public SparseCodes encode(Matrix rows) {
        if (rows.columns() != inputWidth) {
            throw new IllegalArgumentException(
                    "rows of %d values, the encoders read %d".formatted(rows.columns(), inputWidth));
        }
        List<SparseCodes> codes = new ArrayList<>();
        int column = 0;
        for (Encoder part : parts) {
            codes.add(part.encode(columns(rows, column, part.inputWidth())));
            column += part.inputWidth();
        }
        SparseCodes.Builder joined = new SparseCodes.Builder(rows.rows(), features);
        for (int row = 0; row < rows.rows(); row++) {
            int before = 0;
            for (SparseCodes part : codes) {
                for (int entry = part.rowStart()[row]; entry < part.rowStart()[row + 1]; entry++) {
                    joined.add(before + part.feature()[entry], part.value()[entry]);
                }
                before += part.features();
            }
            joined.endRow();
        }
        return joined.build();
    }

    private static Matrix columns(Matrix rows, int from, int count) {
        Matrix columns = Matrix.zeros(rows.rows(), count);
        for (int row = 0; row < rows.rows(); row++) {
            System.arraycopy(rows.values(), row * rows.columns() + from, columns.values(), row * count, count);
        }
        return columns;
    }
}
