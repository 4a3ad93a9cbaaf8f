package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.wire.TensorFileException.Fault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NpzFileTest {

    private static final String ROWS_FIRST = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    private static final float[] SIX = {1, 2, 3, 4, 5, 6};

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void storedAndDeflatedArraysAreRead(boolean deflated) throws IOException {
        byte[] archive = TensorArchives.zip(
                Map.of("W.npy", TensorArchives.npy(ROWS_FIRST, SIX), "note.txt", new byte[] {1}), deflated);
        try (NpzFile file = open(archive)) {
            assertEquals(Set.of("W"), file.names());
            Tensor tensor = file.tensor("W");
            assertEquals(List.of(2L, 3L), tensor.shape());
            assertArrayEquals(new double[] {1, 2, 3, 4, 5, 6}, tensor.toDoubles());
        }
    }

    @Test
    void columnsFirstArraysAreTurned() throws IOException {
        String header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
        try (NpzFile file = open(archive(TensorArchives.npy(header, 1, 4, 2, 5, 3, 6)))) {
            assertArrayEquals(
                    new double[] {1, 2, 3, 4, 5, 6}, file.tensor("W").toMatrix().values());
        }
    }

    @Test
    void everyWayAnArrayCanBeWrongHasAName() {
        refused(Fault.BAD_HEADER, "NUMPY".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        refused(Fault.BAD_HEADER, TensorArchives.npy("{'descr': '<f4'}", SIX));
        byte[] longHeader = TensorArchives.npy(ROWS_FIRST, SIX);
        longHeader[9] = (byte) 0xFF;
        refused(Fault.BAD_HEADER, longHeader);
        refused(Fault.SHAPE_AGAINST_BYTES, TensorArchives.npy(ROWS_FIRST, 1, 2, 3));
        refused(
                Fault.SHAPE_AGAINST_BYTES,
                TensorArchives.npy(
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", SIX));
        refused(
                Fault.UNKNOWN_DTYPE,
                TensorArchives.npy("{'descr': '|O', 'fortran_order': False, 'shape': (6,), }", SIX));
        TensorFileException missing = assertThrows(TensorFileException.class, () -> {
            try (NpzFile file = open(archive(TensorArchives.npy(ROWS_FIRST, SIX)))) {
                file.tensor("b");
            }
        });
        assertEquals(Fault.MISSING_TENSOR, missing.fault());
    }

    @Test
    void everyWayAnArchiveCanBeWrongHasAName() {
        byte[] sound = archive(TensorArchives.npy(ROWS_FIRST, SIX));
        int central = find(sound, 0x02014b50);
        int end = find(sound, 0x06054b50);
        refusedArchive(Fault.NO_ARCHIVE, new byte[5]);
        refusedArchive(Fault.NO_ARCHIVE, Arrays.copyOf(sound, sound.length - 1));
        refusedArchive(Fault.BAD_DIRECTORY, with(sound, end + 16, 0x7FFFFFF0));
        refusedArchive(Fault.BAD_DIRECTORY, with(sound, end + 12, 3));
        refusedArchive(Fault.BAD_DIRECTORY, with(sound, central, 1));
        refusedArchive(Fault.BAD_DIRECTORY, with(sound, central + 42, 7));
        refusedArchive(Fault.BAD_DIRECTORY, with(sound, central + 20, 0x7FFFFFFF));
        refusedArchive(Fault.BAD_DIRECTORY, with(sound, end + 16, -1));
        byte[] encrypted = sound.clone();
        encrypted[central + 8] |= 1;
        refusedArchive(Fault.UNKNOWN_PACKING, encrypted);
        byte[] damaged = sound.clone();
        damaged[find(sound, 0x04034b50) + 30 + 5 + 90] ^= 1;
        refusedArchive(Fault.CHANGED_CONTENT, damaged);
    }

    @Test
    void aClaimedSizeAllocatesNothing() {
        byte[] archive = TensorArchives.zip(Map.of("W.npy", TensorArchives.npy(ROWS_FIRST, SIX)), true);
        byte[] claims = with(archive, find(archive, 0x02014b50) + 24, 0x7FFFFF00);
        refusedArchive(Fault.SHAPE_AGAINST_BYTES, claims);
    }

    @Test
    void anArrayIsComparedWithTheHeapBeforeItIsUnpacked() throws IOException {
        int claimed = 0x7FFFFF00;
        String header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }".formatted((claimed - 128) / 4);
        byte[] array = TensorArchives.npy(header, SIX);
        int begin = array.length - 4 * SIX.length;
        byte[] archive = TensorArchives.zip(Map.of("W.npy", array), true);
        byte[] claims = with(archive, find(archive, 0x02014b50) + 24, begin + (claimed - 128) / 4 * 4);
        try (NpzFile file = open(claims)) {
            assertEquals(List.of((claimed - 128) / 4L), file.tensor("W").shape());
        }
        boolean fits = claimed <= Runtime.getRuntime().maxMemory();
        refusedArchive(fits ? Fault.CHANGED_CONTENT : Fault.HEAP_TOO_SMALL, claims);
    }

    private void refused(Fault fault, byte[] array) {
        refusedArchive(fault, archive(array));
    }

    private void refusedArchive(Fault fault, byte[] archive) {
        TensorFileException refused = assertThrows(TensorFileException.class, () -> {
            try (NpzFile file = open(archive)) {
                file.tensor("W").toDoubles();
            }
        });
        assertEquals(fault, refused.fault(), refused.getMessage());
        assertTrue(String.valueOf(refused.getMessage()).length() > 20, refused.getMessage());
    }

    private NpzFile open(byte[] archive) throws IOException {
        return NpzFile.open(TensorArchives.write(folder, "a.npz", archive));
    }

    private static byte[] archive(byte[] array) {
        return TensorArchives.zip(Map.of("W.npy", array), false);
    }

    private static byte[] with(byte[] bytes, int at, int value) {
        byte[] changed = bytes.clone();
        ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        return changed;
    }

    private static int find(byte[] bytes, int signature) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at <= bytes.length - 4; at++) {
            if (buffer.getInt(at) == signature) {
                return at;
            }
        }
        throw new IllegalStateException("no such record");
    }
}
