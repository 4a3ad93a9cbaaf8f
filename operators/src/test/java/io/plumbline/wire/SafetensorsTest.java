package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SafetensorsTest {

    private static final Matrix SMALL = new Matrix(2, 3, new double[] {1, -2, 0.5, 4, 0, -0.25});

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(names = {"F64", "F32", "F16", "BF16"})
    void matrixComesBackInEveryFloatType(DType dtype) throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create().add("m", dtype, SMALL);
        Tensor inMemory = Safetensors.parse(writer.toBytes()).tensor("m");
        assertEquals(SMALL, inMemory.toMatrix());
        assertEquals(SMALL.rowRange(1, 2), inMemory.rows(1, 2));
        assertArrayEquals(new float[] {1, -2, 0.5f, 4, 0, -0.25f}, inMemory.toFloats());
        assertEquals(dtype, inMemory.dtype());
        Path file = folder.resolve("m.safetensors");
        writer.writeTo(file);
        try (Safetensors blob = Safetensors.open(file)) {
            assertEquals(SMALL, blob.tensor("m").toMatrix());
        }
        assertArrayEquals(writer.toBytes(), Files.readAllBytes(file));
    }

    @Test
    void aPartIsOneEntryOfTheFirstDimension() throws IOException {
        Path file = folder.resolve("parts.safetensors");
        ByteBuffer values = ByteBuffer.allocate(2 * 3 * 2 * 4).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 12; i++) {
            values.putFloat(i);
        }
        SafetensorsWriter.create()
                .addVector("before", DType.F64, new double[] {7})
                .addRaw("t", DType.F32, new long[] {2, 3, 2}, values.flip())
                .addRaw("none", DType.F32, new long[] {0, 3}, ByteBuffer.allocate(0))
                .addRaw("scalar", DType.F32, new long[0], ByteBuffer.allocate(4))
                .writeTo(file);
        try (Safetensors blob = Safetensors.open(file)) {
            assertEquals(List.of(2L, 3L, 2L), blob.shape("t"));
            assertEquals(List.of(3L, 2L), blob.part("t", 1).shape());
            assertEquals(
                    new Matrix(3, 2, new double[] {6, 7, 8, 9, 10, 11}),
                    blob.part("t", 1).toMatrix());
            assertEquals(
                    new Matrix(3, 2, new double[] {0, 1, 2, 3, 4, 5}),
                    blob.part("t", 0).toMatrix());
            assertThrows(IndexOutOfBoundsException.class, () -> blob.part("t", 2));
            assertThrows(IndexOutOfBoundsException.class, () -> blob.part("t", -1));
            assertThrows(IndexOutOfBoundsException.class, () -> blob.part("none", 0));
            assertThrows(IndexOutOfBoundsException.class, () -> blob.part("scalar", 0));
            assertThrows(SafetensorsException.class, () -> blob.part("missing", 0));
            assertThrows(SafetensorsException.class, () -> blob.shape("missing"));
        }
    }

    @Test
    void everythingAddedComesBack() {
        Safetensors blob = Safetensors.parse(SafetensorsWriter.create()
                .metadata("parent", "a \"quoted\" é")
                .addLongs("offsets", 0, Long.MAX_VALUE, -1)
                .addVector("bias", DType.F64, new double[] {Math.PI, Double.MIN_VALUE})
                .addRaw("ids", DType.I32, new long[] {2, 1}, ByteBuffer.wrap(new byte[] {1, 0, 0, 0, -1, -1, -1, -1}))
                .toBytes());
        assertEquals(Map.of("parent", "a \"quoted\" é"), blob.metadata());
        assertArrayEquals(
                new long[] {0, Long.MAX_VALUE, -1}, blob.tensor("offsets").toLongs());
        assertArrayEquals(
                new double[] {Math.PI, Double.MIN_VALUE}, blob.tensor("bias").toDoubles());
        assertEquals(1, blob.tensor("bias").toMatrix().rows());
        assertArrayEquals(new long[] {1, -1}, blob.tensor("ids").toLongs());
        assertEquals(List.of(2L, 1L), blob.tensor("ids").shape());
        assertTrue(blob.contains("ids") && !blob.contains("__metadata__"));
    }

    @Test
    void handMadeBlobOfAnotherWriterIsRead() {
        // Unpadded header, entries out of order, metadata last, an empty tensor in front of a full one.
        byte[] bytes = Blobs.of(
                Blobs.object(
                        Blobs.entry("b", "I32", "[1]", 4, 8),
                        Blobs.entry("none", "F64", "[0,7]", 4, 4),
                        Blobs.entry("a", "F32", "[]", 0, 4),
                        "\"__metadata__\":{\"format\":\"pt\"}"),
                8);
        ByteBuffer.wrap(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(bytes.length - 8, 1.5f)
                .putInt(bytes.length - 4, 9);
        Safetensors blob = Safetensors.parse(bytes);
        assertArrayEquals(new double[] {1.5}, blob.tensor("a").toDoubles());
        assertArrayEquals(new long[] {9}, blob.tensor("b").toLongs());
        assertEquals(new Matrix(0, 7, new double[0]), blob.tensor("none").toMatrix());
        assertEquals(List.of("b", "none", "a"), List.copyOf(blob.names()));
    }

    @Test
    void blobInTheMiddleOfABufferIsReadWithoutMovingIt() {
        byte[] blob = SafetensorsWriter.create().add("m", DType.F64, SMALL).toBytes();
        ByteBuffer buffer = ByteBuffer.allocateDirect(blob.length + 10);
        buffer.position(3).limit(3 + blob.length);
        buffer.duplicate().put(blob);
        assertEquals(SMALL, Safetensors.parse(buffer).tensor("m").toMatrix());
        assertEquals(3, buffer.position());
    }

    @Test
    void bytesAreAViewThatCannotBeWritten() {
        Tensor tensor = Safetensors.parse(
                        SafetensorsWriter.create().add("m", DType.F32, SMALL).toBytes())
                .tensor("m");
        assertTrue(tensor.bytes().isReadOnly());
        assertEquals(-2.0f, tensor.bytes().getFloat(4));
        assertEquals(4.0f, tensor.rowBytes(1, 2).getFloat(0));
        assertEquals(12, tensor.rowBytes(1, 2).remaining());
        assertThrows(IndexOutOfBoundsException.class, () -> tensor.rowBytes(1, 3));
        assertThrows(IndexOutOfBoundsException.class, () -> tensor.rows(-1, 1));
    }

    @Test
    void everyElementIsAligned() {
        byte[] blob = SafetensorsWriter.create()
                .addVector("half", DType.F16, new double[3])
                .addVector("double", DType.F64, new double[1])
                .addVector("float", DType.F32, new double[1])
                .toBytes();
        assertEquals(0, ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN).getLong(0) % 8);
        assertEquals(
                List.of("double", "float", "half"),
                List.copyOf(Safetensors.parse(blob).names()));
    }

    @Test
    void equalCallsGiveEqualBytes() {
        SafetensorsWriter first =
                SafetensorsWriter.create().metadata("a", "1").metadata("b", "2").add("m", DType.F32, SMALL);
        SafetensorsWriter second =
                SafetensorsWriter.create().metadata("a", "1").metadata("b", "2").add("m", DType.F32, SMALL);
        assertArrayEquals(first.toBytes(), second.toBytes());
    }

    @Test
    void writerRefusesWhatItCouldNotReadBack() {
        SafetensorsWriter writer = SafetensorsWriter.create().add("m", DType.F32, SMALL);
        assertThrows(IllegalArgumentException.class, () -> writer.add("m", DType.F32, SMALL));
        assertThrows(IllegalArgumentException.class, () -> writer.addLongs("__metadata__", 1));
        assertThrows(IllegalArgumentException.class, () -> writer.add("i", DType.I64, SMALL));
        assertThrows(IllegalArgumentException.class, () -> SafetensorsWriter.create()
                .addRaw("r", DType.F32, new long[] {2}, ByteBuffer.allocate(7)));
    }

    @Test
    void failedWriteLeavesTheOldFileAndNothingElse() throws IOException {
        Path file = Files.writeString(folder.resolve("baseline.safetensors"), "old");
        IOException e = assertThrows(
                IOException.class,
                () -> AtomicFile.write(file, channel -> {
                    channel.write(ByteBuffer.allocate(100));
                    throw new IOException("No space left on device");
                }));
        assertEquals(file + " was not written: No space left on device; nothing was left behind", e.getMessage());
        assertEquals("old", Files.readString(file));
        assertEquals(List.of(file), entries(folder));
    }

    @Test
    void failedFileOfAFolderGivesItsReasonOnce() {
        Path target = folder.resolve("adapted");
        IOException e = assertThrows(
                IOException.class,
                () -> AtomicFile.writeFolder(
                        target,
                        inside -> AtomicFile.write(inside.resolve("weights"), channel -> {
                            throw new IOException("No space left on device");
                        })));
        assertEquals(target + " was not written: No space left on device; nothing was left behind", e.getMessage());
    }

    @Test
    void failedFolderLeavesNothing() throws IOException {
        Path target = folder.resolve("adapted");
        assertThrows(
                IOException.class,
                () -> AtomicFile.writeFolder(target, inside -> {
                    Files.writeString(inside.resolve("cfg.json"), "{}");
                    throw new IOException("No space left on device");
                }));
        assertEquals(List.of(), entries(folder));
    }

    @Test
    void folderWithContentIsNeverReplaced() throws IOException {
        Path target = Files.createDirectory(folder.resolve("adapted"));
        AtomicFile.writeFolder(target, inside -> Files.writeString(inside.resolve("cfg.json"), "{}"));
        assertEquals("{}", Files.readString(target.resolve("cfg.json")));
        IOException e = assertThrows(IOException.class, () -> AtomicFile.writeFolder(target, inside -> {}));
        assertTrue(String.valueOf(e.getMessage()).contains("exists and is not empty"), e.getMessage());
        assertEquals("{}", Files.readString(target.resolve("cfg.json")));
        assertEquals(List.of(target), entries(folder));
    }

    @Test
    void tensorOutlivesItsFile() throws IOException {
        Path file = folder.resolve("m.safetensors");
        SafetensorsWriter.create().add("m", DType.F64, SMALL).writeTo(file);
        Tensor tensor;
        try (Safetensors blob = Safetensors.open(file)) {
            tensor = blob.tensor("m");
        }
        SafetensorsWriter.create().add("m", DType.F64, Matrix.identity(3)).writeTo(file);
        assertEquals(SMALL, tensor.toMatrix());
    }

    private static List<Path> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList();
        }
    }
}
