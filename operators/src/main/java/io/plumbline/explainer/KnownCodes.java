package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Holds codes of sampled rows that were made before, so that a row is encoded once though several ask for its codes:
 * {@code 2 d k} flops each time.
 *
 * <p>A row is found by its hash and taken only if its activations are the same to the last bit; its codes are then the
 * same too, since they do not depend on the rows around it. Immutable.
 */
public final class KnownCodes {

    /** The codes where nothing is known. */
    public static final KnownCodes NONE = new KnownCodes(List.of(), SparseCodes.fromDense(noRows()));

    private final List<SampledRow> rows;
    private final SparseCodes codes;
    private final Map<Long, Integer> places = new HashMap<>();

    private KnownCodes(List<SampledRow> rows, SparseCodes codes) {
        if (rows.size() != codes.rows()) {
            throw new IllegalArgumentException("%d rows and codes of %d".formatted(rows.size(), codes.rows()));
        }
        this.rows = List.copyOf(rows);
        this.codes = codes;
        for (int i = 0; i < rows.size(); i++) {
            places.put(rows.get(i).hash(), i);
        }
    }

    private static Matrix noRows() {
        return Matrix.zeros(0, 1);
    }

    /** Remembers the codes of rows, which are held and not copied. */
    public static KnownCodes of(List<SampledRow> rows, SparseCodes codes) {
        return new KnownCodes(rows, codes);
    }

    /**
     * Returns codes of the rows in their order: those that are known, and the others made by {@code encoder}.
     *
     * @param encoder the one that made the known codes
     */
    public SparseCodes of(Encoder encoder, List<SampledRow> asked) {
        List<SampledRow> others = new ArrayList<>();
        int[] known = new int[asked.size()];
        for (int i = 0; i < known.length; i++) {
            known[i] = place(asked.get(i));
            if (known[i] < 0) {
                others.add(asked.get(i));
            }
        }
        SparseCodes made = SampledCodes.of(encoder, others);
        if (others.size() == asked.size()) {
            return made;
        }
        SparseCodes.Builder all = new SparseCodes.Builder(asked.size(), codes.features());
        int next = 0;
        for (int place : known) {
            if (place < 0) {
                add(made, next++, all);
            } else {
                add(codes, place, all);
            }
        }
        return all.build();
    }

    private int place(SampledRow row) {
        @Nullable Integer place = places.get(row.hash());
        return place != null && Arrays.equals(rows.get(place).activation(), row.activation()) ? place : -1;
    }

    private static void add(SparseCodes from, int row, SparseCodes.Builder all) {
        for (int entry = from.rowStart()[row]; entry < from.rowStart()[row + 1]; entry++) {
            all.add(from.feature()[entry], from.value()[entry]);
        }
        all.endRow();
    }
}
