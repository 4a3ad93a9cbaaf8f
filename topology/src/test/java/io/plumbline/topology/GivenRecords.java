package io.plumbline.topology;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.LongStream;

/**
 * Makes rows with what somebody's own explainer made of them: it gives back the first four of eight dimensions, and
 * nothing of the others. Quiet rows lie in the first four, drifted ones in the last.
 */
public final class GivenRecords {

    private GivenRecords() {}

    /** Returns reconstructions of rows. */
    public static Matrix reconstructions(Matrix rows, long seed) {
        Random random = new Random(seed);
        Matrix reconstructions = Matrix.zeros(rows.rows(), rows.columns());
        for (int i = 0; i < rows.rows(); i++) {
            for (int j = 0; j < rows.columns(); j++) {
                double kept = j < 4 ? rows.get(i, j) : 0.0;
                reconstructions.set(i, j, (float) (kept + 0.01 * (1 + j) * random.nextGaussian()));
            }
        }
        return reconstructions;
    }

    /** Returns the value of a record. */
    public static byte[] blob(Matrix rows, long seed) {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .add("reconstructions", DType.F32, reconstructions(rows, seed))
                .toBytes();
    }

    /** Returns the value of a record whose codes say which dimensions are above 1. */
    public static byte[] blobWithCodes(Matrix rows, long seed) {
        return withCodes(
                        SafetensorsWriter.create()
                                .add("activations", DType.F32, rows)
                                .add("reconstructions", DType.F32, reconstructions(rows, seed)),
                        rows)
                .toBytes();
    }

    private static SafetensorsWriter withCodes(SafetensorsWriter writer, Matrix rows) {
        ByteBuffer indices =
                ByteBuffer.allocate(Long.BYTES * rows.values().length).order(ByteOrder.LITTLE_ENDIAN);
        Matrix values = Matrix.zeros(rows.rows(), rows.columns());
        for (int i = 0; i < rows.values().length; i++) {
            boolean active = rows.values()[i] > 1.0;
            indices.putLong(active ? i % rows.columns() : -1);
            values.values()[i] = active ? rows.values()[i] : 0.0;
        }
        return writer.addRaw("code_indices", DType.I64, new long[] {rows.rows(), rows.columns()}, indices.flip())
                .add("code_values", DType.F32, values);
    }

    /** Writes a dump of quiet requests, with codes. */
    public static Path dump(Path file, int requests, long seed) throws IOException {
        int rowsOfRequest = WatchedFolder.ROWS;
        Matrix rows = Matrix.zeros(requests * rowsOfRequest, WatchedFolder.WIDTH);
        for (int request = 0; request < requests; request++) {
            double[] values = WatchedFolder.quiet(seed + request).values();
            System.arraycopy(values, 0, rows.values(), request * values.length, values.length);
        }
        withCodes(
                        SafetensorsWriter.create()
                                .add("activations", DType.F32, rows)
                                .add("reconstructions", DType.F32, reconstructions(rows, seed)),
                        rows)
                .addLongs(
                        "request_offsets",
                        LongStream.rangeClosed(0, requests)
                                .map(request -> request * rowsOfRequest)
                                .toArray())
                .writeTo(file);
        return file;
    }
}
