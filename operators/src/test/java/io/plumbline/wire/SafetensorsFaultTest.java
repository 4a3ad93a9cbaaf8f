package io.plumbline.wire;

import static io.plumbline.wire.Blobs.entry;
import static io.plumbline.wire.Blobs.object;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.SafetensorsException.Fault;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests each way a blob can be wrong. Every blob goes through memory and through a file. */
class SafetensorsFaultTest {

    @TempDir
    Path folder;

    @Test
    void blobShorterThanTheLengthFieldIsTruncated() throws IOException {
        refused(Fault.TRUNCATED, new byte[0], "0 bytes; a safetensors blob begins with a header length of 8 bytes");
        refused(Fault.TRUNCATED, new byte[7], "7 bytes;");
    }

    @Test
    void headerBeyondTheBlobIsTruncated() throws IOException {
        byte[] header = "{}".getBytes(StandardCharsets.UTF_8);
        refused(Fault.TRUNCATED, Blobs.withLength(99_999_999, header, 0), "claims 99999999 bytes, the blob has 2");
    }

    @Test
    void tensorBeyondTheBlobIsTruncated() throws IOException {
        refused(
                Fault.TRUNCATED,
                Blobs.of(object(entry("a", "F32", "[2]", 0, 8)), 7),
                "tensor \"a\" ends at 8, the blob has 7 bytes after its header (at byte 9)");
    }

    @Test
    void headerBeyondTheCapIsTooLong() throws IOException {
        byte[] header = "{}".getBytes(StandardCharsets.UTF_8);
        refused(Fault.HEADER_TOO_LONG, Blobs.withLength(100_000_001, header, 0), "claims 100000001 bytes");
        refused(Fault.HEADER_TOO_LONG, Blobs.withLength(-1, header, 0), "claims 18446744073709551615 bytes");
    }

    @Test
    void headerThatIsNoJsonObjectOfEntriesIsBadJson() throws IOException {
        refused(Fault.BAD_JSON, Blobs.of("", 0), "must begin with '{'");
        refused(Fault.BAD_JSON, Blobs.of("[]", 0), "must begin with '{'");
        refused(Fault.BAD_JSON, Blobs.of(" {}", 0), "must begin with '{'");
        refused(Fault.BAD_JSON, Blobs.of("{\"a\":", 0), "not valid JSON");
        refused(Fault.BAD_JSON, Blobs.of("{}{}", 0), "text after the closing brace");
        refused(Fault.BAD_JSON, Blobs.of("{\"a\":3}", 0), "tensor \"a\" is not an object");
        refused(Fault.BAD_JSON, Blobs.of("{\"a\":{\"dtype\":\"F32\"}}", 0), "an entry needs dtype, shape");
        refused(Fault.BAD_JSON, Blobs.of("{\"a\":{\"dtype\":3}}", 0), "dtype is not a string");
        refused(Fault.BAD_JSON, Blobs.of("{\"a\":{\"strides\":[]}}", 0), "unknown key \"strides\"");
        refused(Fault.BAD_JSON, Blobs.of(object(entry("a", "F32", "[1.0]", 0, 4)), 4), "not a whole number");
        refused(Fault.BAD_JSON, Blobs.of(object(entry("a", "F32", "7", 0, 4)), 4), "shape is not an array");
        refused(
                Fault.BAD_JSON,
                Blobs.of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 8),
                "two");
    }

    @Test
    void metadataOtherThanStringsIsBadJson() throws IOException {
        refused(Fault.BAD_JSON, Blobs.of("{\"__metadata__\":[]}", 0), "__metadata__ is not an object of strings");
        refused(Fault.BAD_JSON, Blobs.of("{\"__metadata__\":{\"epoch\":3}}", 0), "key \"epoch\" is not a string");
    }

    @Test
    void headerInAnotherEncodingIsBadJson() throws IOException {
        byte[] wide = "{}".getBytes(StandardCharsets.UTF_16LE);
        refused(Fault.BAD_JSON, Blobs.withLength(wide.length, wide, 0), "UTF-8");
        byte[] broken = "{\"?\":{}}".getBytes(StandardCharsets.UTF_8);
        broken[2] = (byte) 0xFF;
        refused(Fault.BAD_JSON, Blobs.withLength(broken.length, broken, 0), "not valid JSON");
    }

    @Test
    void deepNestingIsBadJsonAndNoStackOverflow() throws IOException {
        refused(Fault.BAD_JSON, Blobs.of("{\"a\":" + "[".repeat(500_000), 0), "");
    }

    @Test
    void nameThatStandsTwiceIsADuplicate() throws IOException {
        String a = entry("a", "F32", "[1]", 0, 4);
        refused(Fault.DUPLICATE_KEY, Blobs.of(object(a, a), 4), "tensor \"a\" stands twice");
        refused(
                Fault.DUPLICATE_KEY,
                Blobs.of("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F16\"}}", 0),
                "tensor \"a\": dtype stands twice in the header (at byte 28)");
        refused(
                Fault.DUPLICATE_KEY,
                Blobs.of("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
                "__metadata__ stands twice");
        refused(
                Fault.DUPLICATE_KEY,
                Blobs.of("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0),
                "__metadata__ key \"k\" stands twice");
    }

    @Test
    void tensorsThatShareBytesOverlap() throws IOException {
        String blob = object(entry("a", "F32", "[2]", 0, 8), entry("b", "F32", "[2]", 4, 12));
        refused(Fault.OVERLAP, Blobs.of(blob, 12), "tensor \"b\" begins at 4, the tensors before it end at 8");
        String same = object(entry("a", "F32", "[2]", 0, 8), entry("b", "F32", "[2]", 0, 8));
        refused(Fault.OVERLAP, Blobs.of(same, 8), "belong to two tensors");
    }

    @Test
    void bytesBetweenTensorsAreAHole() throws IOException {
        String blob = object(entry("a", "F32", "[1]", 0, 4), entry("b", "F32", "[1]", 8, 12));
        refused(Fault.HOLE, Blobs.of(blob, 12), "tensor \"b\" begins at 8, the tensors before it end at 4");
        refused(Fault.HOLE, Blobs.of(object(entry("a", "F32", "[1]", 4, 8)), 8), "belong to none");
    }

    @Test
    void sizeBeyondALongOverflows() throws IOException {
        String huge = "[4294967296,4294967296]";
        refused(Fault.OVERFLOW, Blobs.of(object(entry("a", "F32", huge, 0, 4)), 4), "needs more than");
        // 2^62 elements of 4 bytes come out as 0 where products wrap around.
        refused(Fault.OVERFLOW, Blobs.of(object(entry("a", "F32", "[4611686018427387904]", 0, 0)), 0), "needs more");
        refused(
                Fault.OVERFLOW,
                Blobs.of(object(entry("a", "F32", "[18446744073709551617]", 0, 4)), 4),
                "18446744073709551617 is not in 0 ..");
    }

    @Test
    void negativeSizeOrOffsetOverflows() throws IOException {
        refused(Fault.OVERFLOW, Blobs.of(object(entry("a", "F32", "[-1]", 0, 4)), 4), "-1 is not in 0 ..");
        refused(Fault.OVERFLOW, Blobs.of(object(entry("a", "F32", "[-1,-1]", 0, 4)), 4), "-1 is not in 0 ..");
        refused(Fault.OVERFLOW, Blobs.of(object(entry("a", "F32", "[1]", -4, 0)), 4), "-4 is not in 0 ..");
    }

    @Test
    void shapeMustNeedTheBytesTheOffsetsSpan() throws IOException {
        refused(
                Fault.SHAPE_AGAINST_BYTES,
                Blobs.of(object(entry("W_dec", "F32", "[768, 16384]", 0, 50331644)), 0),
                "tensor \"W_dec\": shape [768, 16384] of F32 needs 50331648 bytes, "
                        + "data_offsets span 50331644 (at byte 9)");
        refused(Fault.SHAPE_AGAINST_BYTES, Blobs.of(object(entry("a", "F32", "[1]", 8, 4)), 8), "span -4");
    }

    @Test
    void elementTypeNotSupportedIsUnknown() throws IOException {
        refused(
                Fault.UNKNOWN_DTYPE,
                Blobs.of(object(entry("a", "F8_E4M3", "[1]", 0, 1)), 1),
                "tensor \"a\": dtype \"F8_E4M3\"; supported are F64, F32, F16, BF16, I64, I32");
    }

    @Test
    void bytesBehindTheLastTensorAreTrailing() throws IOException {
        refused(
                Fault.TRAILING_BYTES,
                Blobs.of(object(entry("a", "F32", "[1]", 0, 4)), 5),
                "the tensors end at 4, the blob has 5 bytes after its header");
        refused(Fault.TRAILING_BYTES, Blobs.of("{}", 1), "the tensors end at 0");
    }

    @Test
    void tensorThatIsNotThereIsMissing() {
        Safetensors blob = Safetensors.parse(Blobs.of(object(entry("a", "F32", "[1]", 0, 4)), 4));
        SafetensorsException e = assertThrows(SafetensorsException.class, () -> blob.tensor("W_dec"));
        assertEquals(Fault.MISSING_TENSOR, e.fault());
        assertEquals("tensor \"W_dec\" is missing; the blob has [a]", e.getMessage());
    }

    @Test
    void tensorOfThreeDimensionsIsNoMatrix() {
        Safetensors blob = Safetensors.parse(Blobs.of(object(entry("a", "F32", "[1,1,1]", 0, 4)), 4));
        Tensor tensor = blob.tensor("a");
        assertEquals(
                Fault.WRONG_SHAPE,
                assertThrows(SafetensorsException.class, tensor::toMatrix).fault());
        assertEquals(
                Fault.WRONG_SHAPE,
                assertThrows(SafetensorsException.class, () -> tensor.rows(0, 1))
                        .fault());
    }

    @Test
    void numbersOfTheOtherKindAreRefused() {
        Safetensors blob =
                Safetensors.parse(Blobs.of(object(entry("a", "F32", "[1]", 0, 4), entry("b", "I32", "[1]", 4, 8)), 8));
        SafetensorsException e =
                assertThrows(SafetensorsException.class, () -> blob.tensor("a").toLongs());
        assertEquals(Fault.WRONG_DTYPE, e.fault());
        assertEquals(
                Fault.WRONG_DTYPE,
                assertThrows(SafetensorsException.class, () -> blob.tensor("b").toFloats())
                        .fault());
    }

    @Test
    void tensorBeyondTwoGibibytesIsReadInPieces() throws IOException {
        long large = 3L << 30;
        String header = object(
                entry("large", "F32", "[100663296,8]", 0, large), entry("small", "I64", "[1]", large, large + 8));
        Path file = Files.write(folder.resolve("large.safetensors"), Blobs.of(header, 0));
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            long end = sparse.length() + large + 8;
            sparse.setLength(end);
            sparse.seek(end - 8);
            sparse.write(7);
            // The last float of the first GiB, the first of the second, and the last of all: 1.0 is 0x3F800000.
            for (long after : new long[] {1L << 30, (1L << 30) + 4, large}) {
                sparse.seek(end - 8 - large + after - 2);
                sparse.write(new byte[] {(byte) 0x80, 0x3F});
            }
        }
        try (Safetensors blob = Safetensors.open(file)) {
            assertEquals(7, blob.tensor("small").toLongs()[0]);
            Tensor tensor = blob.tensor("large");
            int boundary = (1 << 30) / 32;
            assertArrayEquals(
                    new double[] {0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0},
                    tensor.rows(boundary - 1, boundary + 1).values());
            assertEquals(1, tensor.rows(100663295, 100663296).get(0, 7));
            SafetensorsException e = assertThrows(SafetensorsException.class, tensor::bytes);
            assertEquals(Fault.TENSOR_TOO_LARGE, e.fault());
        }
    }

    @Test
    void allFloatsOfPiecesComeInTheirOrder() {
        ByteBuffer first = ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(1)
                .putFloat(2);
        ByteBuffer second =
                ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(3);
        Tensor tensor = new Tensor(
                new TensorEntry("a", DType.F32, List.of(3L), 0, 12, 0), () -> List.of(first.flip(), second.flip()));
        assertArrayEquals(new float[] {1, 2, 3}, tensor.toFloats());
    }

    @Test
    void emptyTensorWithAGiantDimensionAllocatesNothing() {
        Safetensors blob = Safetensors.parse(Blobs.of(object(entry("a", "F32", "[9000000000,0]", 0, 0)), 0));
        SafetensorsException e =
                assertThrows(SafetensorsException.class, () -> blob.tensor("a").toMatrix());
        assertEquals(Fault.TENSOR_TOO_LARGE, e.fault());
    }

    /** Whatever a bit flip or a cut makes of a sound blob, it is read or refused by name, never anything else. */
    @Test
    void damagedBlobIsReadOrRefusedByName() {
        long seed = 20240229;
        SplittableRandom random = new SplittableRandom(seed);
        byte[] sound = SafetensorsWriter.create()
                .metadata("format", "pt")
                .add("activations", DType.F16, Matrix.identity(5))
                .addLongs("token_ids", 1, 2, 3, 4, 5)
                .toBytes();
        int refused = 0;
        for (int trial = 0; trial < 20_000; trial++) {
            byte[] damaged = Arrays.copyOf(sound, random.nextInt(4) == 0 ? random.nextInt(sound.length) : sound.length);
            for (int hit = random.nextInt(1, 4); hit > 0 && damaged.length > 0; hit--) {
                damaged[random.nextInt(Math.min(damaged.length, 260))] = (byte) random.nextInt(256);
            }
            try {
                Safetensors blob = Safetensors.parse(damaged);
                blob.names().forEach(name -> blob.tensor(name).toDoubles());
            } catch (SafetensorsException e) {
                refused++;
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", trial " + trial, e);
            }
        }
        assertTrue(refused > 10_000, "seed " + seed + ": only " + refused + " were refused");
    }

    private void refused(Fault fault, byte[] blob, String message) throws IOException {
        SafetensorsException inMemory = assertThrows(SafetensorsException.class, () -> Safetensors.parse(blob));
        assertEquals(fault, inMemory.fault(), inMemory.getMessage());
        assertTrue(String.valueOf(inMemory.getMessage()).contains(message), inMemory.getMessage());
        Path file = Files.write(folder.resolve("wrong.safetensors"), blob);
        SafetensorsException onDisk = assertThrows(SafetensorsException.class, () -> Safetensors.open(file));
        assertEquals(fault, onDisk.fault());
        assertEquals(file + ": " + inMemory.getMessage(), onDisk.getMessage());
    }
}
