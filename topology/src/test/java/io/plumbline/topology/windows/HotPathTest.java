package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SampledRow;
import io.plumbline.requests.RequestProjection;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.ingest.RecordReader;
import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import javax.management.ObjectName;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Measures the way from the bytes of a record to the pane, as a stream thread goes it for every record. */
class HotPathTest {

    private static final int WIDTH = 64;
    private static final byte[] SITE = "s".getBytes(StandardCharsets.UTF_8);
    private static final RecordHeaders NO_HEADERS = new RecordHeaders();

    /**
     * The bytes a record may allocate: the views of the tensors, the batch and its name, two checksums: some 20 small
     * objects, however many rows there are. Room for the ones of a JVM whose compiler removes fewer of them.
     */
    private static final long BYTES_A_RECORD = 1_500;

    private final RecordReader reader =
            new RecordReader(Map.of("s", new SiteShape("s", WIDTH, WIDTH, false, RowMask.NONE)), Limits.DEFAULT);

    /** Tests what a record allocates: it must be collected, and the collector's pauses are ours. */
    @ParameterizedTest
    @EnumSource(names = {"F32", "F16", "BF16"})
    void aRecordAllocatesTheSameFewBytesWhateverItsRows(DType type) throws Exception {
        assertFewBytes(type, null, NO_HEADERS, BYTES_A_RECORD);
    }

    /** Tests a record of a totalled request: one row, their sum, and that sum projected, and the name. */
    @ParameterizedTest
    @EnumSource(names = {"F32", "F16", "BF16"})
    void aRecordOfATotalledRequestAllocatesTheSameFewBytesWhateverItsRows(DType type) throws Exception {
        int components = 16;
        RequestProjection projection = RequestProjection.of(floats(new SplittableRandom(1), components, WIDTH));
        RecordHeaders headers = new RecordHeaders();
        headers.add("request", "request-17".getBytes(StandardCharsets.UTF_8));
        assertFewBytes(type, projection, headers, BYTES_A_RECORD + 12L * WIDTH + 8L * components + 300);
    }

    private void assertFewBytes(
            DType type, @Nullable RequestProjection projection, RecordHeaders headers, long mostBytes)
            throws Exception {
        for (int rows : new int[] {64, 512}) {
            byte[] value = blob(floats(new SplittableRandom(rows), rows, WIDTH), type);
            // The one sampled row has the smallest hash after a while, and no other one enters.
            Map<String, RequestProjection> projections = projection == null ? Map.of() : Map.of("s", projection);
            Pane pane = new Pane(Panes.site("s", WIDTH, 1, new RequestTotalling(projections, 4)));
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long least = Long.MAX_VALUE;
            long deadline = System.nanoTime() + 60_000_000_000L;
            for (long time = 1; least > mostBytes && System.nanoTime() - deadline < 0; time++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                pane.add(reader.read(SITE, value, headers, time), time);
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertTrue(
                    least <= mostBytes,
                    "%d bytes for a record of %d rows of %s in %d bytes".formatted(least, rows, type, value.length));
        }
    }

    /** Sums over floats depend on which rows are multiplied together, so equal bits say that 128 rows always are. */
    @Test
    void rowsOfSeveralRecordsAreSummedTogetherAlsoWhereSitesInterleave() throws Exception {
        SplittableRandom random = new SplittableRandom(5);
        Matrix rows = floats(random, 300, WIDTH);
        Pane whole = Panes.of(WIDTH, 1);
        whole.add(read(rows, 1), 1);
        Pane pieces = Panes.of(WIDTH, 1);
        Pane other = Panes.of(WIDTH, 1);
        for (int from = 0; from < rows.rows(); ) {
            int to = Math.min(rows.rows(), from + random.nextInt(1, 9));
            pieces.add(read(rows.rowRange(from, to), from), from);
            other.add(read(floats(random, 3, WIDTH), from), from);
            from = to;
        }
        assertArrayEquals(whole.moment().state(), pieces.moment().state());
        // And the order would show: the same rows by twos, each summed alone, have other bits.
        Pane apart = Panes.of(WIDTH, 1);
        for (int from = 0; from < rows.rows(); from += 2) {
            apart.add(read(rows.rowRange(from, from + 2), from), from);
            apart.moment().state();
        }
        assertTrue(!Arrays.equals(whole.moment().state(), apart.moment().state()), "the test tells nothing");
    }

    @Test
    void sampledRowsAreThoseThatWereSent() throws Exception {
        Matrix rows = floats(new SplittableRandom(6), 40, WIDTH);
        Pane pane = Panes.of(WIDTH, 8);
        pane.add(read(rows, 1), 1);
        List<SampledRow> sampled = Panes.sample(pane).rows();
        assertEquals(8, sampled.size());
        for (SampledRow row : sampled) {
            boolean sent = false;
            for (int i = 0; i < rows.rows(); i++) {
                boolean same = true;
                for (int j = 0; j < WIDTH; j++) {
                    same &= (float) rows.get(i, j) == row.activation()[j];
                }
                sent |= same;
            }
            assertTrue(sent, row.toString());
        }
    }

    /**
     * Tests a pane where rows are read, with rows that wait to be summed, at the default sample and the width of GPT-2,
     * and one of half that width.
     */
    @Test
    void anOpenPaneTakesLittleMoreThanItsTriangleAndItsSample() throws Exception {
        for (int width : new int[] {384, 768}) {
            int capacity = 4_096;
            RecordReader wide = new RecordReader(
                    Map.of("s", new SiteShape("s", width, width, false, RowMask.NONE)), Limits.DEFAULT);
            List<Pane> panes = openPanes(wide, width, capacity);
            int number = panes.size();
            long with = bytesOfReachableObjects();
            // What earlier tests left may be found late: it is in neither.
            panes.clear();
            double measured = (with - bytesOfReachableObjects()) / (double) number;
            double expected = 8.0 * width * (width + 1) / 2 + 4.0 * width * capacity;
            assertTrue(
                    Math.abs(measured - expected) < 0.15 * expected,
                    "d = %d: %.0f bytes; triangle and sample are %.0f".formatted(width, measured, expected));
        }
    }

    private static List<Pane> openPanes(RecordReader reader, int width, int capacity) throws Exception {
        List<Pane> panes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Pane pane = Panes.of(width, capacity);
            for (int record = 0; record < 10; record++) {
                byte[] value = blob(floats(new SplittableRandom(record), 500, width), DType.F32);
                pane.add(reader.read(SITE, value, NO_HEADERS, record), record);
            }
            panes.add(pane);
        }
        return panes;
    }

    /**
     * Counts bytes as the JVM does: the room that a collector leaves beside a large array depends on the size of the
     * heap.
     */
    private static long bytesOfReachableObjects() throws Exception {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        // Number, instances, bytes, class. Arrays of int are not ours: a collector fills the gaps it leaves with them.
        return histogram
                .lines()
                .map(line -> line.strip().split("\\s+", -1))
                .filter(words -> words[0].endsWith(":") && !words[3].equals("[I"))
                .mapToLong(words -> Long.parseLong(words[2]))
                .sum();
    }

    private Ingested read(Matrix rows, long time) throws Exception {
        return reader.read(SITE, blob(rows, DType.F32), NO_HEADERS, time);
    }

    private static Matrix floats(SplittableRandom random, int rows, int width) {
        Matrix matrix = Matrix.zeros(rows, width);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = (float) random.nextDouble(-3, 5);
        }
        return matrix;
    }

    private static byte[] blob(Matrix rows, DType type) {
        return SafetensorsWriter.create().add("activations", type, rows).toBytes();
    }
}
