package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import java.util.function.IntConsumer;

/**
 * An encoder that tells how many rows it is given, before it encodes them.
 *
 * @param given may count, wait or never return
 */
public record WatchedEncoder(Encoder inner, IntConsumer given) implements Encoder {

    @Override
    public int inputWidth() {
        return inner.inputWidth();
    }

    @Override
    public int features() {
        return inner.features();
    }

    @Override
    public SparseCodes encode(Matrix rows) {
        given.accept(rows.rows());
        return inner.encode(rows);
    }
}
