package io.plumbline.benchmarks.operators;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MomentAccumulator;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationBlob;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentClaim;
import io.plumbline.records.MomentRecord;
import io.plumbline.refit.Reconstruction;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
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

/** Measures what a monitor does with a window and with a record; Kafka and the state store are left out. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
        value = 1,
        jvmArgsPrepend = {"--add-modules", "jdk.incubator.vector", "-Dplumbline.kernel=vector", "-Xmx6g"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
public class WindowBenchmark {

    /**
     * Assesses a window: all numbers that follow from its moment, and the FVU of a TopK 32 explainer with 4 d features
     * on 256 of its rows.
     */
    @State(Scope.Thread)
    public static class Assessment {

        private static final String WHOLE = "window";
        private static final String MOMENT = "from the moment";
        private static final String FVU = "encoding and reconstructing";

        /** The dimension: 2,048 takes a minute to set up by full decompositions, and 4,096 some ten minutes. */
        @Param({"384", "768"})
        public int d;

        @Param({WHOLE, MOMENT, FVU})
        public String variant;

        private Supplier<Object> work;

        @Setup
        public void setUp() {
            Random random = new Random(3);
            Matrix weights = Matrix.zeros(4 * d, d);
            for (int i = 0; i < weights.values().length; i++) {
                weights.values()[i] = (float) (random.nextGaussian() / Math.sqrt(d)); // as files have them
            }
            Decoder decoder = new Decoder(weights, new double[d]);
            Encoder encoder = TopKEncoder.of(weights, new double[weights.rows()], 32);
            SiteGeometry site =
                    SiteGeometry.of(decoder, SecondMoment.of(Inputs.rows(4096, d, 1)), null, Inputs.rank(d));
            Matrix rows = Inputs.rows(2048, d, 2);
            SecondMoment window = SecondMoment.of(rows);
            Matrix sampled = rows.rowRange(0, 256);
            for (int i = 0; i < sampled.values().length; i++) {
                sampled.values()[i] = (float) sampled.values()[i];
            }
            Supplier<Reconstruction> fvu = () -> Reconstruction.of(decoder, encoder.encode(sampled), sampled);
            work = switch (variant) {
                case WHOLE ->
                    () -> site.assess(window)
                            .with(
                                    Statistic.RECONSTRUCTION_FVU_TRAINED,
                                    fvu.get().fvu());
                case MOMENT -> () -> site.assess(window);
                case FVU -> fvu::get;
                default -> throw new IllegalArgumentException(variant);
            };
        }
    }

    /**
     * Takes one record: 256 rows of float32, or the moment of any number of rows with 512 of them as a sample. Both are
     * read from their bytes, checked and added to a moment and a sample.
     */
    @State(Scope.Thread)
    public static class Record {

        private static final String ROWS = "256 rows of F32";
        private static final String DOUBLES = "moment of F64";
        private static final String FLOATS = "moment of F32";
        private static final int SAMPLE = 512;

        @Param({"768", "2048", "4096"})
        public int d;

        @Param({ROWS, DOUBLES, FLOATS})
        public String variant;

        private final KnownHeaders headers = new KnownHeaders();
        private SecondMomentAccumulator moment;
        private RowSample sample;
        private Supplier<Object> work;

        @Setup
        public void setUp() {
            moment = SecondMomentAccumulator.ofDimension(d);
            sample = RowSample.ofCapacity(4_096);
            Matrix rows = Inputs.rows(256, d, 1);
            for (int i = 0; i < rows.values().length; i++) {
                rows.values()[i] = (float) rows.values()[i];
            }
            byte[] record =
                    switch (variant) {
                        case ROWS ->
                            SafetensorsWriter.create()
                                    .add("activations", DType.F32, rows)
                                    .toBytes();
                        case DOUBLES -> summed(rows, DType.F64);
                        case FLOATS -> summed(rows, DType.F32);
                        default -> throw new IllegalArgumentException(variant);
                    };
            work = variant.equals(ROWS) ? () -> addRows(record) : () -> addMoment(record);
        }

        private byte[] summed(Matrix rows, DType dtype) {
            byte[][] value = new byte[1][];
            try (MomentAccumulator accumulator = MomentAccumulator.of(
                    new MomentAccumulator.Settings(d, null, RowMask.NONE, 60_000, 0, SAMPLE, dtype, Long.MAX_VALUE),
                    (time, blob, unused) -> value[0] = blob)) {
                for (int batch = 0; batch < 2 * SAMPLE / rows.rows(); batch++) {
                    accumulator.add(new ActivationBatch(rows, null, null), "request", 0);
                }
            }
            return value[0];
        }

        private Long addRows(byte[] record) {
            ActivationBlob blob = (ActivationBlob) ActivationRecord.parse(record, headers);
            if (!blob.activations().fitFloatPanel()) {
                throw new IllegalStateException("the rows are floats");
            }
            long hashed = RowSample.recordHash(record, 0, null);
            moment.addFloats(blob.activations());
            for (int row = 0; row < blob.activations().rows(); row++) {
                long hash = RowSample.hash(hashed, row);
                if (hash <= sample.threshold()) {
                    sample.offer(hash, 0, 0, blob.activations().row(row), null);
                }
            }
            return moment.rows();
        }

        private Long addMoment(byte[] value) {
            MomentRecord record = (MomentRecord) ActivationRecord.parse(value, headers);
            if (MomentClaim.fault(record) != null) {
                throw new IllegalStateException("the rows are real");
            }
            moment.merge(record);
            sample.merge(record);
            return moment.rows();
        }
    }

    @Benchmark
    public Object assessment(Assessment assessment) {
        return assessment.work.get();
    }

    @Benchmark
    public Object record(Record record) {
        return record.work.get();
    }
}
