package io.plumbline.benchmarks.operators;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.ActivationBlob;
import io.plumbline.wire.ActivationRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.MomentClaim;
import io.plumbline.wire.MomentRecord;
import io.plumbline.wire.SafetensorsWriter;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures what a monitor's task does with one record: 256 rows of float32, or the moment of any number of rows with
 * 512 of them as a sample. Both are read from their bytes, checked and added to a moment and a sample; Kafka and the
 * state store are left out.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@State(Scope.Thread)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Xmx3g"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MomentRecordBenchmark {

    private static final int ROWS = 256;
    private static final int SAMPLE = 512;

    @Param({"768", "2048", "4096"})
    private int d;

    private final KnownHeaders headers = new KnownHeaders();
    private byte[] rows;
    private byte[] momentOfDoubles;
    private byte[] momentOfFloats;
    private ActivationBatch batch;
    private MomentAccumulator producer;
    private SecondMomentAccumulator moment;
    private RowSample sample;

    @Setup
    public void setUp() {
        SplittableRandom random = new SplittableRandom(1);
        Matrix values = Matrix.zeros(ROWS, d);
        for (int i = 0; i < values.values().length; i++) {
            values.values()[i] = (float) random.nextDouble(-1, 1);
        }
        rows = SafetensorsWriter.create().add("activations", DType.F32, values).toBytes();
        momentOfDoubles = summed(values, DType.F64);
        momentOfFloats = summed(values, DType.F32);
        batch = new ActivationBatch(values, null, null);
        producer = MomentAccumulator.of(settings(DType.F64), (time, blob, headers) -> {});
        moment = SecondMomentAccumulator.ofDimension(d);
        sample = RowSample.ofCapacity(4_096);
    }

    private byte[] summed(Matrix values, DType dtype) {
        byte[][] value = new byte[1][];
        try (MomentAccumulator accumulator =
                MomentAccumulator.of(settings(dtype), (time, blob, headers) -> value[0] = blob)) {
            for (int batch = 0; batch < 2 * SAMPLE / ROWS; batch++) {
                accumulator.add(new ActivationBatch(values, null, null), "request", 0);
            }
        }
        return value[0];
    }

    private MomentAccumulator.Settings settings(DType dtype) {
        return new MomentAccumulator.Settings(d, null, RowMask.NONE, 60_000, 0, SAMPLE, dtype, Long.MAX_VALUE);
    }

    /** Adds 256 rows where they arise, which is what a server on the JVM pays. */
    @Benchmark
    public long producer() {
        producer.add(batch, "request", 0);
        return producer.bytes();
    }

    /** Takes a record of 256 rows. */
    @Benchmark
    public long rows() {
        ActivationBlob blob = (ActivationBlob) ActivationRecord.parse(rows, headers);
        if (!blob.activations().fitFloatPanel()) {
            throw new IllegalStateException("the rows are floats");
        }
        long record = RowSample.recordHash(rows, 0, null);
        moment.addFloats(blob.activations());
        for (int row = 0; row < ROWS; row++) {
            long hash = RowSample.hash(record, row);
            if (hash <= sample.threshold()) {
                sample.offer(hash, 0, 0, blob.activations().row(row), null);
            }
        }
        return moment.rows();
    }

    /** Takes a record with a moment of float64. */
    @Benchmark
    public long momentOfDoubles() {
        return add(momentOfDoubles);
    }

    /** Takes a record with a moment of float32. */
    @Benchmark
    public long momentOfFloats() {
        return add(momentOfFloats);
    }

    private long add(byte[] value) {
        MomentRecord record = (MomentRecord) ActivationRecord.parse(value, headers);
        if (MomentClaim.fault(record) != null) {
            throw new IllegalStateException("the rows are real");
        }
        moment.merge(record);
        sample.merge(record);
        return moment.rows();
    }
}
