package io.plumbline.wire;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SplitMix;
import io.plumbline.records.MomentTile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/** A moment record before it is written, whose parts a test can change. */
public final class SentMoment {

    private static final Pattern SHAPED = Pattern.compile("(\\w+) \\[([\\d, ]+)]");

    public final Matrix rows;
    public final double[] state;
    int requests = 3;
    public int byToken = 4;
    public int byNorm = 5;
    public DType dtype = DType.F64;
    DType sampleType = DType.F32;
    public double largestNorm;
    public double maskNorm;
    public long[] hashes = {};
    public long[] requestsOfRows = {};
    public long[] times = {};
    public final List<float[]> sampled = new ArrayList<>();

    /** The totals: of all requests, in the order of their mixed hashes. */
    public long[] totalled = {};

    public long[][] totalCounts = {};
    public String totalNames = "";
    public DType totalType = DType.F32;
    public Matrix totalSums = Matrix.zeros(0, 1);

    private SentMoment(Matrix rows) {
        this.rows = rows;
        int d = rows.columns();
        state = new double[MomentTile.stateLength(d)];
        for (int row = 0; row < rows.rows(); row++) {
            double square = 0.0;
            for (int i = 0; i < d; i++) {
                double value = rows.get(row, i);
                state[i] += value;
                square += value * value;
                for (int j = 0; j <= i; j++) {
                    state[at(i, j)] += value * rows.get(row, j);
                }
            }
            largestNorm = Math.max(largestNorm, Math.sqrt(square));
        }
        maskNorm = 2 * largestNorm + 1;
    }

    /** Returns the moment of rows of small integers. */
    public static SentMoment ofRows(int count, int sampleRows, int width) {
        SplittableRandom random = new SplittableRandom(count);
        Matrix rows = Matrix.zeros(count, width);
        for (int i = 0; i < rows.values().length; i++) {
            rows.values()[i] = random.nextInt(-20, 21);
        }
        SentMoment sent = new SentMoment(rows);
        sent.sample(random, sampleRows);
        sent.total(3);
        return sent;
    }

    /** Returns a moment of masked rows alone. */
    public static SentMoment masked(int width) {
        SentMoment sent = new SentMoment(Matrix.zeros(0, width));
        sent.requests = 0;
        return sent;
    }

    /** Returns a moment that a model may give. */
    public static SentMoment honest(SplittableRandom random) {
        int width = 1 + random.nextInt(12);
        Matrix rows = Matrix.zeros(1 + random.nextInt(random.nextBoolean() ? 4 : 400), width);
        double scale = Math.scalb(1.0, random.nextInt(-40, 20));
        int dead = random.nextInt(width + 1);
        double mean = random.nextBoolean() ? 0 : 100;
        for (int row = 0; row < rows.rows(); row++) {
            double longer = random.nextInt(200) == 0 ? 1_000 : 1;
            boolean repeats = row > 0 && random.nextInt(3) == 0;
            for (int i = 0; i < width; i++) {
                double value = i == dead ? 0 : scale * longer * (mean + random.nextDouble(-1, 1));
                rows.set(row, i, repeats ? rows.get(row - 1, i) : (float) value);
            }
        }
        SentMoment sent = new SentMoment(rows);
        for (int i = width; i < sent.state.length; i++) {
            sent.state[i] *= 1 + 3e-7 * random.nextDouble(-1, 1);
        }
        sent.dtype = random.nextBoolean() ? DType.F32 : DType.F64;
        sent.sampleType = random.nextInt(3) == 0 ? DType.BF16 : DType.F32;
        sent.requests = 1 + random.nextInt(rows.rows());
        sent.totalType = random.nextBoolean() ? DType.F32 : DType.F64;
        sent.sample(random, 1 + random.nextInt(rows.rows()));
        sent.total(1 + random.nextInt(sent.requests));
        return sent;
    }

    private void sample(SplittableRandom random, int count) {
        long[] all = random.longs(rows.rows()).distinct().toArray();
        Integer[] order = new Integer[all.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(all[a], all[b]));
        hashes = new long[count];
        requestsOfRows = new long[count];
        times = new long[count];
        for (int k = 0; k < count; k++) {
            hashes[k] = all[order[k]];
            requestsOfRows[k] = order[k] % requests;
            times[k] = 60_000L + k % 1_000;
            float[] row = new float[rows.columns()];
            for (int i = 0; i < row.length; i++) {
                row[i] = (float) rows.get(order[k], i);
            }
            sampled.add(row);
        }
    }

    /** Totals the first requests: row i is of request i modulo their number. */
    private void total(int most) {
        totalled = LongStream.range(0, requests)
                .boxed()
                .sorted(Comparator.comparing(SplitMix::mix))
                .limit(most)
                .mapToLong(Long::longValue)
                .toArray();
        totalSums = Matrix.zeros(totalled.length, rows.columns());
        totalCounts = new long[totalled.length][];
        StringBuilder names = new StringBuilder();
        for (int g = 0; g < totalled.length; g++) {
            String name = "request ü " + totalled[g];
            boolean isNamed = g % 4 != 3;
            totalCounts[g] = new long[] {1, 0, isNamed ? name.length() : -1};
            names.append(isNamed ? name : "");
            for (int row = (int) totalled[g]; row < rows.rows(); row += requests) {
                totalCounts[g][1]++;
                for (int i = 0; i < rows.columns(); i++) {
                    totalSums.set(g, i, totalSums.get(g, i) + rows.get(row, i));
                }
            }
        }
        totalNames = names.toString();
    }

    /** Returns where an entry of the moment is in the state. */
    public int at(int i, int j) {
        return rows.columns() + i * (i + 1) / 2 + j;
    }

    public byte[] blob() {
        return writer("").toBytes();
    }

    /** Returns the blob with one tensor of zeros in another shape, {@code "I64 [3]"}, or without it, {@code "-"}. */
    public byte[] blobWith(String name, String tensor) {
        SafetensorsWriter writer = writer(name);
        Matcher shaped = SHAPED.matcher(tensor);
        if (shaped.matches()) {
            DType type = DType.valueOf(shaped.group(1));
            long[] shape = Arrays.stream(shaped.group(2).split(", "))
                    .mapToLong(Long::parseLong)
                    .toArray();
            int bytes = type.bytes() * (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b);
            writer.addRaw(name, type, shape, ByteBuffer.allocate(bytes));
        }
        return writer.toBytes();
    }

    public byte[] blobWithLong(String name, long value) {
        return writer(name).addLongs(name, value).toBytes();
    }

    private SafetensorsWriter writer(String without) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        int d = rows.columns();
        addLongs(writer, without, "rows", rows.rows());
        addLongs(writer, without, "requests", requests);
        addLongs(writer, without, "masked", byToken, byNorm);
        addLongs(writer, without, "pane", 60_000, 1_000);
        addLongs(writer, without, "mask_token_ids", 101, 102);
        add(writer, without, "mask_norm", DType.F64, maskNorm);
        add(writer, without, "largest_norm", DType.F64, largestNorm);
        add(writer, without, "sum", DType.F64, Arrays.copyOf(state, d));
        add(writer, without, "moment", dtype, Arrays.copyOfRange(state, d, state.length));
        if (dtype == DType.F32) {
            add(writer, without, "moment_error", DType.F64, 0x1p-24);
        }
        if (rows.rows() > 0) {
            addLongs(writer, without, "sample_hash", hashes);
            addLongs(writer, without, "sample_request", requestsOfRows);
            addLongs(writer, without, "sample_time", times);
            Matrix values = Matrix.zeros(sampled.size(), d);
            for (int row = 0; row < sampled.size(); row++) {
                for (int i = 0; i < d; i++) {
                    values.set(row, i, sampled.get(row)[i]);
                }
            }
            if (!without.equals("sample_activations")) {
                writer.add("sample_activations", sampleType, values);
            }
        }
        if (totalled.length > 0) {
            addLongs(writer, without, "total_request", totalled);
            addRaw(
                    writer,
                    without,
                    "total_counts",
                    DType.I64,
                    new long[] {totalCounts.length, 3},
                    Arrays.stream(totalCounts).flatMapToLong(Arrays::stream).toArray());
            addRaw(
                    writer,
                    without,
                    "total_names",
                    DType.I32,
                    new long[] {totalNames.length()},
                    totalNames.chars().asLongStream().toArray());
            if (!without.equals("total_sum")) {
                writer.add("total_sum", totalType, totalSums);
            }
        }
        return writer;
    }

    private static void addLongs(SafetensorsWriter writer, String without, String name, long... values) {
        if (!name.equals(without)) {
            writer.addLongs(name, values);
        }
    }

    private static void addRaw(
            SafetensorsWriter writer, String without, String name, DType dtype, long[] shape, long[] values) {
        if (!name.equals(without)) {
            ByteBuffer bytes =
                    ByteBuffer.allocate(dtype.bytes() * values.length).order(ByteOrder.LITTLE_ENDIAN);
            for (long value : values) {
                if (dtype == DType.I64) {
                    bytes.putLong(value);
                } else {
                    bytes.putInt((int) value);
                }
            }
            writer.addRaw(name, dtype, shape, bytes.flip());
        }
    }

    private static void add(SafetensorsWriter writer, String without, String name, DType dtype, double... values) {
        if (!name.equals(without)) {
            writer.addVector(name, dtype, values);
        }
    }
}
