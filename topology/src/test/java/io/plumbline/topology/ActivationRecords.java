package io.plumbline.topology;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBlob;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.util.SplittableRandom;

/** Record values for tests. */
public final class ActivationRecords {

    private ActivationRecords() {}

    public static byte[] blob(Matrix activations) {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, activations)
                .toBytes();
    }

    public static byte[] blob(Matrix activations, long... tokenIds) {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, activations)
                .addLongs("token_ids", tokenIds)
                .toBytes();
    }

    public static byte[] blob(Matrix activations, Matrix targets) {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, activations)
                .add("targets", DType.F32, targets)
                .toBytes();
    }

    /** Returns what {@code ingest} hands on of these rows. */
    public static ActivationBlob undecoded(Matrix activations) {
        return ActivationBlob.parse(blob(activations), new KnownHeaders());
    }

    /** Integer-valued rows: their float64 moments are exact in any order. */
    public static Matrix integerRows(long seed, int rows, int columns) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextInt(-8, 9);
        }
        return matrix;
    }
}
