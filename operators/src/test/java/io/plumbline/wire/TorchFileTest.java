package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.wire.TensorArchives.Pickle;
import io.plumbline.wire.TensorFileException.Fault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TorchFileTest {

    private static final float[] SIX = {1, 2, 3, 4, 5, 6};

    @TempDir
    Path folder;

    @Test
    void aDictOfTensorsIsReadWithWhatStandsBesideThem() throws IOException {
        byte[] pickle = new Pickle()
                .op('}', '(')
                .text("W")
                .tensor(6, 0, new int[] {2, 3}, new int[] {3, 1})
                .text("turned")
                .tensor(6, 0, new int[] {3, 2}, new int[] {1, 3})
                .text("part")
                .tensor(6, 2, new int[] {2}, new int[] {1})
                .text("state")
                .op('}', '(')
                .text("k")
                .op('K', 32)
                .text("of")
                .text("TopK")
                .op('u', 'u', '.')
                .bytes();
        try (TorchFile file = open(TensorArchives.torch(pickle, SIX))) {
            assertEquals(Set.of("W", "turned", "part"), file.names());
            assertEquals(Map.of("state.k", 32L, "state.of", "TopK"), file.values());
            assertArrayEquals(
                    new double[] {1, 2, 3, 4, 5, 6}, file.tensor("W").toMatrix().values());
            assertArrayEquals(
                    new double[] {1, 4, 2, 5, 3, 6},
                    file.tensor("turned").toMatrix().values());
            assertArrayEquals(new double[] {3, 4}, file.tensor("part").toDoubles());
        }
    }

    @Test
    void whatCouldRunCodeIsRefusedByName() {
        refused(
                Fault.FOREIGN_GLOBAL,
                "names posix.system",
                new Pickle().global("posix", "system").op('(').text("id").op('t', 'R', '.'));
        refused(
                Fault.FOREIGN_GLOBAL,
                "names builtins.eval",
                new Pickle().text("builtins").text("eval").op(0x93, '.'));
        refused(Fault.FOREIGN_OPCODE, "NEWOBJ (0x81)", new Pickle().op(')', ')', 0x81, '.'));
        refused(Fault.FOREIGN_OPCODE, "INST (0x69)", new Pickle().op('(', 'i'));
        refused(Fault.FOREIGN_OPCODE, "OBJ (0x6f)", new Pickle().op('(', 'o'));
        refused(Fault.FOREIGN_OPCODE, "PERSID (0x50)", new Pickle().op('P'));
        refused(Fault.FOREIGN_OPCODE, "EXT (0x82)", new Pickle().op(0x82, 1));
        refused(Fault.FOREIGN_OPCODE, "(0xff)", new Pickle().op(0xff));
    }

    @Test
    void aBrokenPickleIsRefused() {
        refused(Fault.BAD_PICKLE, "cut off", new Pickle().op('}'));
        refused(Fault.BAD_PICKLE, "too few values", new Pickle().op('.'));
        refused(Fault.BAD_PICKLE, "expected a dict of tensors", new Pickle().op('K', 3, '.'));
        refused(Fault.BAD_PICKLE, "no mark", new Pickle().op('}', 'u', '.'));
        refused(Fault.BAD_PICKLE, "nothing was remembered as 9", new Pickle().op('h', 9));
        refused(Fault.BAD_PICKLE, "a string of", new Pickle().op('X', 255, 255, 255, 127));
        refused(
                Fault.BAD_PICKLE,
                "twice",
                new Pickle().op('}').text("a").op('N', 's').text("a").op('N', 's', '.'));
        refused(Fault.BAD_PICKLE, "a key that is", new Pickle().op('}', '}', 'N', 's', '.'));
        refused(
                Fault.BAD_PICKLE,
                "dicts more than",
                new Pickle().op('}', 'q', 0).text("a").op('h', 0, 's', '.'));
        refused(Fault.BAD_PICKLE, "pickle protocol 9", new Pickle().op(0x80, 9));
    }

    @Test
    void tensorsLieWithinTheirStorage() {
        for (int[][] wrong : new int[][][] {
            {{7}, {1}}, {{2, 3}, {3, 2}}, {{6, 6}, {0, 0}}, {{2}, {200}}, {{3, 2}, {1}}, {{200, 200}, {1, 1}},
        }) {
            Pickle pickle = new Pickle()
                    .op('}')
                    .text("W")
                    .tensor(6, 0, wrong[0], wrong[1])
                    .op('s', '.');
            refused(Fault.SHAPE_AGAINST_BYTES, "W", pickle);
        }
        refused(
                Fault.SHAPE_AGAINST_BYTES,
                "a storage of 99 elements",
                new Pickle()
                        .op('}')
                        .text("W")
                        .tensor(99, 0, new int[] {6}, new int[] {1})
                        .op('s', '.'));
    }

    @Test
    void filesOfTorchBeforeItWroteArchivesAreRefusedWithWhatToDo() {
        TensorFileException refused =
                assertThrows(TensorFileException.class, () -> open(new byte[] {(byte) 0x80, 2, (byte) 0x8a, 10})
                        .close());
        assertEquals(Fault.OTHER_FILE, refused.fault());
        assertTrue(String.valueOf(refused.getMessage()).contains("weights_only=True"), refused.getMessage());
        byte[] none = TensorArchives.zip(Map.of("a.txt", "a".getBytes(StandardCharsets.US_ASCII)), false);
        assertEquals(
                Fault.BAD_DIRECTORY,
                assertThrows(TensorFileException.class, () -> open(none).close())
                        .fault());
    }

    private void refused(Fault fault, String words, Pickle pickle) {
        TensorFileException refused = assertThrows(TensorFileException.class, () -> {
            try (TorchFile file = open(TensorArchives.torch(pickle.bytes(), SIX))) {
                file.names().forEach(file::tensor);
            }
        });
        assertEquals(fault, refused.fault(), refused.getMessage());
        assertTrue(String.valueOf(refused.getMessage()).contains(words), refused.getMessage());
    }

    private TorchFile open(byte[] bytes) throws IOException {
        return TorchFile.open(TensorArchives.write(folder, "model.pt", bytes));
    }
}
