package io.plumbline.baseline;

import io.plumbline.explainer.SparseCodes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the codes of a recording's first requests, so that a second reading need not encode them again: encoding is
 * {@code 2 d k} flops a row, and most of what is done with a row.
 *
 * <p><b>Size.</b> 12 bytes a code and 4 a row, {@value #MOST_BYTES} bytes at most: some 350,000 rows of TopK-32. The
 * requests after these are encoded twice. Not thread-safe.
 */
final class KeptCodes {

    private static final long MOST_BYTES = 128L << 20;

    private final List<List<SparseCodes>> requests = new ArrayList<>();
    private final long most;
    private long bytes;

    KeptCodes() {
        this(MOST_BYTES);
    }

    KeptCodes(long most) {
        this.most = most;
    }

    /** Keeps the codes of the next request, unless it or one before it found no room. */
    void add(List<SparseCodes> codes) {
        for (SparseCodes part : codes) {
            bytes += 12L * part.nonZeros() + 4L * part.rows();
        }
        if (bytes <= most) {
            requests.add(codes);
        }
    }

    /**
     * Returns the codes of a request, by its place in the recording from 0, or null where they were not kept or are of
     * another number of rows.
     */
    @Nullable
    List<SparseCodes> of(int request, int rows) {
        if (request >= requests.size()) {
            return null;
        }
        List<SparseCodes> codes = requests.get(request);
        return codes.stream().mapToInt(SparseCodes::rows).sum() == rows ? codes : null;
    }
}
