package io.plumbline.causal.heads;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.causal.heads.HeadException.Fault;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerHeadTest {

    private static final Matrix ROWS = new Matrix(2, 3, new double[] {1, 2, 3, 4, 5, 6});
    private static final float[] TWICE = {2, 4, 6, 8, 10, 12};
    private static final HeadLimits LONG = new HeadLimits(1 << 20, 1, Duration.ofSeconds(60));

    @TempDir
    Path folder;

    private static WorkerHead head(FakeWorker worker) throws IOException {
        return head(worker, LONG);
    }

    private static WorkerHead head(FakeWorker worker, HeadLimits limits) throws IOException {
        return new WorkerHead(worker.location(), limits, false, 3);
    }

    private static void assertFails(Fault fault, String part, WorkerHead head) {
        HeadException failed = assertThrows(HeadException.class, () -> head.logits(ROWS, null));
        assertEquals(fault, failed.fault(), failed.getMessage());
        assertTrue(String.valueOf(failed.getMessage()).contains(part), failed.getMessage());
    }

    private FakeWorker worker(FakeWorker.Conduct conduct) throws IOException {
        return FakeWorker.atSocket(folder.resolve("head.sock"), conduct);
    }

    @Test
    void aWorkerAnswersAtASocketAndAtAPortOnOneConnection() throws IOException {
        for (int i = 0; i < 2; i++) {
            FakeWorker.Conduct conduct = FakeWorker.answering(FakeWorker::answer);
            try (FakeWorker worker = i == 0 ? worker(conduct) : FakeWorker.atPort(conduct);
                    WorkerHead head = head(worker)) {
                head.greet();
                for (int run = 0; run < 3; run++) {
                    Logits logits = head.logits(ROWS, null);
                    assertEquals(2, logits.rows());
                    assertEquals(3, logits.vocabulary());
                    assertArrayEquals(TWICE, logits.values());
                }
                assertEquals(3, head.runs());
                assertEquals(1, worker.connected());
            }
        }
    }

    @Test
    void answersOfOtherTypesAreWidened() throws IOException {
        for (DType dtype : List.of(DType.F16, DType.BF16, DType.F64)) {
            try (FakeWorker worker =
                            worker(FakeWorker.answering(connection -> FakeWorker.answer(connection, 2.0, dtype)));
                    WorkerHead head = head(worker)) {
                assertArrayEquals(TWICE, head.logits(ROWS, null).values());
            }
        }
    }

    @Test
    void aTranscodersWorkerGetsTargetsAndResidual() throws IOException {
        FakeWorker.Conduct conduct = connection -> {
            FakeWorker.hello(connection, "1", "targets,residual", "3");
            WorkerFrame request = WorkerFrame.read(connection, 1 << 20);
            WorkerFrame.write(
                    connection,
                    WorkerFrame.Kind.ANSWER,
                    SafetensorsWriter.create()
                            .add(
                                    "logits",
                                    DType.F32,
                                    request.blob().tensor("targets").toMatrix()));
            assertEquals(9.0, request.blob().tensor("residual").toMatrix().get(1, 2));
        };
        try (FakeWorker worker = worker(conduct);
                WorkerHead head = new WorkerHead(worker.location(), LONG, true, 3)) {
            Matrix residual = new Matrix(2, 3, new double[] {4, 5, 6, 7, 8, 9});
            assertArrayEquals(
                    new float[] {1, 2, 3, 4, 5, 6}, head.logits(ROWS, residual).values());
            assertEquals(
                    Fault.WRONG_SHAPE,
                    assertThrows(HeadException.class, () -> head.logits(ROWS, null))
                            .fault());
        }
    }

    @Test
    void aWorkerThatWasStartedAgainAnswersTheNextCall() throws IOException {
        WorkerHead head;
        try (FakeWorker first = worker(FakeWorker.answering(FakeWorker::answer))) {
            head = head(first);
            assertArrayEquals(TWICE, head.logits(ROWS, null).values());
        }
        assertFails(Fault.UNREACHABLE, "start it with `plumbline-sae downstream-worker`", head);
        try (FakeWorker second = worker(FakeWorker.answering(FakeWorker::answer))) {
            assertArrayEquals(TWICE, head.logits(ROWS, null).values());
            assertEquals(1, second.connected());
        }
        head.close();
    }

    @Test
    void aConnectionThatWasClosedWhileItLayIdleIsOpenedAgainWithinTheCall() throws IOException {
        try (FakeWorker worker = worker(connection -> {
                    FakeWorker.hello(connection, "1", "activations", "3");
                    FakeWorker.answer(connection);
                });
                WorkerHead head = head(worker)) {
            for (int run = 0; run < 3; run++) {
                assertArrayEquals(TWICE, head.logits(ROWS, null).values());
            }
            assertEquals(3, worker.connected());
        }
    }

    @Test
    void aWorkerThatEndsWithinARunIsAFailureAndNotAskedTwice() throws IOException {
        AtomicInteger requests = new AtomicInteger();
        try (FakeWorker worker = worker(connection -> {
                    FakeWorker.hello(connection, "1", "activations", "3");
                    FakeWorker.request(connection);
                    requests.incrementAndGet();
                });
                WorkerHead head = head(worker)) {
            assertFails(Fault.FAILED, "it closed the connection", head);
            assertEquals(1, requests.get());
        }
    }

    @Test
    void aWorkerThatHangsIsLateAndOneThatWorksAgainIsAsked() throws IOException {
        CountDownLatch over = new CountDownLatch(1);
        AtomicInteger connections = new AtomicInteger();
        try (FakeWorker worker = worker(connection -> {
                    boolean hangs = connections.getAndIncrement() == 0;
                    FakeWorker.hello(connection, "1", "activations", "3");
                    if (hangs) {
                        await(over);
                    }
                    FakeWorker.answer(connection);
                });
                WorkerHead head = head(worker, new HeadLimits(1 << 20, 1, Duration.ofMillis(500)))) {
            assertFails(Fault.TIMED_OUT, "no answer in time; limit PT0.5S", head);
            assertArrayEquals(TWICE, head.logits(ROWS, null).values());
            over.countDown();
        }
    }

    /** The hello counts too: something else may listen there. */
    @Test
    void whatSaysNothingIsLate() throws IOException {
        CountDownLatch over = new CountDownLatch(1);
        try (FakeWorker worker = worker(connection -> await(over));
                WorkerHead head = head(worker, new HeadLimits(1 << 20, 1, Duration.ofMillis(300)))) {
            assertFails(Fault.TIMED_OUT, "no answer in time", head);
            over.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aWorkerOfAnotherSiteIsRefusedWhenItIsOpened() throws IOException {
        assertRefused("targets,residual", "192", "the explainer is an autoencoder: its head reads activations");
        assertRefused("activations", "191", "reads rows of 191 values, the explainer writes 192");
    }

    private void assertRefused(String reads, String width, String part) throws IOException {
        try (FakeWorker worker = worker(connection -> FakeWorker.hello(connection, "1", reads, width))) {
            DownstreamSettings settings = settings(worker.location());
            String said = String.valueOf(assertThrows(IllegalArgumentException.class, () -> new HeadProbes()
                            .open(settings, LivePart.autoencoder().explainer()))
                    .getMessage());
            assertTrue(said.contains(part), said);
        }
    }

    private static DownstreamSettings settings(HeadLocation head) {
        return new DownstreamSettings(
                head, 32, 0, Duration.ofMinutes(1), Duration.ofMinutes(1), 1.0, 1, 1 << 28, true, 1.0);
    }

    @Test
    void aWorkerThatIsNotThereYetStopsNoServiceAndIsAskedInEachWindow() throws IOException {
        HeadLocation location = HeadLocation.AtWorker.parse("unix:head.sock", folder);
        double[] values = new double[2 * 192];
        Arrays.setAll(values, Math::sin);
        byte[] request = SafetensorsWriter.create()
                .add("activations", DType.F32, new Matrix(2, 192, values))
                .toBytes();
        try (BehaviourProbe probe =
                new HeadProbes().open(settings(location), LivePart.autoencoder().explainer())) {
            WindowBehaviour without = probe.measure(List.of(request), null);
            assertEquals("unreachable", without.failure());
            assertNotNull(without.reason());
            assertTrue(without.reason().startsWith("worker unix:" + folder), without.reason());
            try (FakeWorker worker = worker(connection -> {
                FakeWorker.hello(connection, "1", "activations", "192");
                while (true) {
                    FakeWorker.answer(connection);
                }
            })) {
                WindowBehaviour with = probe.measure(List.of(request), null);
                assertEquals(1, with.requests(), String.valueOf(with.reason()));
                assertEquals(1, worker.connected());
            }
        }
    }

    @Test
    void whatSpeaksAnotherProtocolIsNoWorker() throws IOException {
        Map<FakeWorker.Conduct, String> others = Map.of(
                connection -> FakeWorker.hello(connection, "2", "activations", "3"), "it speaks protocol 2, expected 1",
                connection -> FakeWorker.hello(connection, "1", "images", "3"), "it reads images, expected activations",
                connection -> FakeWorker.hello(connection, "1", "activations", "x"), "its width is x",
                connection -> FakeWorker.send(
                                connection, "HTTP/1.1 400 Bad Request\r\n".getBytes(StandardCharsets.UTF_8)),
                        "is no frame",
                connection -> FakeWorker.send(connection, new byte[0]), "it closed the connection",
                connection -> FakeWorker.send(connection, header(1, 1L << 20)), "it announced 1048576 bytes");
        for (Map.Entry<FakeWorker.Conduct, String> other : others.entrySet()) {
            try (FakeWorker worker = worker(other.getKey());
                    WorkerHead head = head(worker)) {
                assertFails(Fault.UNREACHABLE, other.getValue(), head);
            }
        }
    }

    private static byte[] header(int kind, long length) {
        byte[] bytes = new byte[WorkerFrame.HEADER_BYTES];
        ByteBuffer.wrap(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("PLBW".getBytes(StandardCharsets.UTF_8))
                .putInt(kind)
                .putLong(length);
        return bytes;
    }

    @Test
    void aWorkersSentenceIsPassedOnShortenedAndItsConnectionStays() throws IOException {
        try (FakeWorker worker = worker(FakeWorker.answering(connection -> {
                    FakeWorker.request(connection);
                    WorkerFrame.write(
                            connection,
                            WorkerFrame.Kind.ERROR,
                            SafetensorsWriter.create().metadata("error", "out of\nmemory " + "x".repeat(2_000)));
                }));
                WorkerHead head = head(worker)) {
            for (int run = 0; run < 2; run++) {
                HeadException failed = assertThrows(HeadException.class, () -> head.logits(ROWS, null));
                assertEquals(Fault.FAILED, failed.fault());
                String said = String.valueOf(failed.getMessage());
                assertTrue(said.contains("out of memory xxx") && said.length() < 700, said);
            }
            assertEquals(1, worker.connected());
        }
    }

    @Test
    void anAnswerThatIsNoLogitsIsAFailureOfItsKind() throws IOException {
        assertAnswerFails(Fault.NOT_FINITE, "row 0, token 0 is NaN", connection -> {
            FakeWorker.answer(connection, Double.NaN, DType.F32);
        });
        assertAnswerFails(Fault.WRONG_SHAPE, "logits [1, 3] of F32 for 2 rows", connection -> {
            FakeWorker.request(connection);
            WorkerFrame.write(
                    connection,
                    WorkerFrame.Kind.ANSWER,
                    SafetensorsWriter.create().add("logits", DType.F32, Matrix.zeros(1, 3)));
        });
        assertAnswerFails(Fault.WRONG_SHAPE, "logits [2] of I64", connection -> {
            FakeWorker.request(connection);
            WorkerFrame.write(
                    connection,
                    WorkerFrame.Kind.ANSWER,
                    SafetensorsWriter.create().addLongs("logits", 1, 2));
        });
        assertAnswerFails(Fault.FAILED, "it sent tensors [other]", connection -> {
            FakeWorker.request(connection);
            WorkerFrame.write(
                    connection,
                    WorkerFrame.Kind.ANSWER,
                    SafetensorsWriter.create().add("other", DType.F32, ROWS));
        });
        assertAnswerFails(Fault.FAILED, "a frame of kind HELLO", connection -> {
            FakeWorker.request(connection);
            FakeWorker.hello(connection, "1", "activations", "3");
        });
        assertAnswerFails(Fault.FAILED, "it announced 4611686018427387904 bytes", connection -> {
            FakeWorker.request(connection);
            FakeWorker.send(connection, header(3, 1L << 62));
        });
        assertAnswerFails(Fault.FAILED, "no sound safetensors", connection -> {
            FakeWorker.request(connection);
            FakeWorker.send(connection, header(3, 4));
            FakeWorker.send(connection, new byte[4]);
        });
    }

    /** One descriptor for each window would soon be the last one. */
    @Test
    void aConnectionStaysAfterAnAnswerThatIsNotFinite() throws IOException {
        AtomicInteger answers = new AtomicInteger();
        FakeWorker.Conduct conduct = connection -> {
            if (answers.getAndIncrement() < 2) {
                FakeWorker.answer(connection, Double.NaN, DType.F32);
            } else {
                FakeWorker.answer(connection);
            }
        };
        try (FakeWorker worker = worker(FakeWorker.answering(conduct));
                WorkerHead head = head(worker)) {
            assertFails(Fault.NOT_FINITE, "is NaN", head);
            assertFails(Fault.NOT_FINITE, "is NaN", head);
            assertArrayEquals(TWICE, head.logits(ROWS, null).values());
            assertEquals(1, worker.connected());
        }
    }

    /** An answer of another shape may be that to another request, and the next one as well. */
    @Test
    void aConnectionEndsAfterAnAnswerOfAnotherShape() throws IOException {
        AtomicInteger answers = new AtomicInteger();
        FakeWorker.Conduct conduct = connection -> {
            if (answers.getAndIncrement() == 0) {
                FakeWorker.request(connection);
                WorkerFrame.write(
                        connection,
                        WorkerFrame.Kind.ANSWER,
                        SafetensorsWriter.create().add("logits", DType.F32, Matrix.zeros(1, 3)));
            } else {
                FakeWorker.answer(connection);
            }
        };
        try (FakeWorker worker = worker(FakeWorker.answering(conduct));
                WorkerHead head = head(worker)) {
            assertFails(Fault.WRONG_SHAPE, "logits [1, 3]", head);
            assertArrayEquals(TWICE, head.logits(ROWS, null).values());
            assertEquals(2, worker.connected());
        }
    }

    private void assertAnswerFails(Fault fault, String part, FakeWorker.Conduct conduct) throws IOException {
        try (FakeWorker worker = worker(FakeWorker.answering(conduct));
                WorkerHead head = head(worker)) {
            assertFails(fault, part, head);
        }
    }

    @Test
    void memoryIsTakenForWhatCameNotForWhatWasAnnounced() {
        byte[] bytes = Arrays.copyOf(header(3, 1L << 30), WorkerFrame.HEADER_BYTES + 100_000);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        assertThrows(
                EOFException.class,
                () -> WorkerFrame.read(Channels.newChannel(new ByteArrayInputStream(bytes)), Integer.MAX_VALUE));
        long taken = threads.getThreadAllocatedBytes(thread) - before;
        assertTrue(taken < 2_000_000, taken + " bytes");
    }

    @Test
    void aFrameWithChangedBytesIsReadOrRefusedAndNothingElse() throws IOException {
        ByteArrayOutputStream sound = new ByteArrayOutputStream();
        WorkerFrame.write(
                Channels.newChannel(sound),
                WorkerFrame.Kind.ANSWER,
                SafetensorsWriter.create().metadata("a", "b").add("logits", DType.F32, ROWS));
        Random random = new Random(7);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] changed = sound.toByteArray();
            for (int j = random.nextInt(4); j >= 0; j--) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            }
            try {
                assertNotNull(
                        WorkerFrame.read(Channels.newChannel(new ByteArrayInputStream(changed)), 1 << 20),
                        "seed 7, frame " + i);
            } catch (IOException expected) {
                refused++;
            }
        }
        assertTrue(refused > 10_000, "refused " + refused);
    }
}
