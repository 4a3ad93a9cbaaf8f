package io.plumbline.factored;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.factored.MadeUpFactors.Form;
import io.plumbline.linalg.Matrix;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class DecoderFactorsTest {

    /** The checksums of a published format: readers in other programs and languages must come to the same ones. */
    private static final Map<Form, String> SHA256 = Map.of(
            Form.UNTURNED, "8efa71aa5726a97f8472c18c40a26da45c9caa5de7c1aba0c4a60377818351d1",
            Form.OF_RANK, "8377377f77b70f0813b20a291ed81cdfd64e304015c18b28e64b14605dea3ae1",
            Form.TURNED, "3fcfc24b1257d817141a2f66bef01bc5b929c4bd445050c95d212e85e34c1614");

    @ParameterizedTest
    @EnumSource(Form.class)
    void theWeightsAreThoseOfTheWrittenArithmetic(Form form) {
        Decoder trained = MadeUpFactors.trained(301, 45);
        DecoderFactors factors = MadeUpFactors.of(form, trained, 7, 60, 11);
        Decoder made = factors.of(trained);
        assertArrayEquals(factors.bias(), made.bias());
        Matrix z = factors.codes().toDense();
        for (int j = 0; j < trained.features(); j++) {
            for (int i = 0; i < trained.dimension(); i++) {
                double sum = rotated(factors, trained, j, i);
                for (int row = 0; row < z.rows(); row++) {
                    if (z.get(row, j) != 0.0) {
                        sum = sum + z.get(row, j) * factors.dual().get(row, i);
                    }
                }
                assertEquals((float) sum, made.weights().get(j, i), "weight " + i + " of feature " + j);
            }
        }
    }

    private static double rotated(DecoderFactors factors, Decoder trained, int j, int i) {
        Matrix turn = factors.turn();
        Matrix basis = factors.basis();
        if (turn == null) {
            return (float) trained.weights().get(j, i);
        }
        if (basis == null) {
            return coordinate(trained, j, turn, i);
        }
        double sum = 0.0;
        for (int c = 0; c < basis.columns(); c++) {
            sum = sum + coordinate(trained, j, turn, c) * basis.get(i, c);
        }
        return sum;
    }

    private static double coordinate(Decoder trained, int j, Matrix turn, int column) {
        double sum = 0.0;
        for (int a = 0; a < turn.rows(); a++) {
            sum = sum + (float) trained.weights().get(j, a) * turn.get(a, column);
        }
        return sum;
    }

    @Test
    void theSha256IsTheSameOnEveryMachine() {
        for (Form form : Form.values()) {
            assertEquals(SHA256.get(form), MadeUpFactors.sha256(form), form.name());
        }
    }

    /** Runs a process for each: kernel and compiler are chosen once. */
    @ParameterizedTest
    @MethodSource
    void everyKernelCompilerAndNumberOfThreadsGivesTheSameBits(List<String> options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MadeUpFactors.class.getName()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD) // the warning about an incubator module
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        assertEquals(
                Stream.of(Form.values()).map(SHA256::get).toList(), said.lines().toList());
    }

    static Stream<List<String>> everyKernelCompilerAndNumberOfThreadsGivesTheSameBits() {
        return Stream.of(
                List.of("-Xint", "-Dplumbline.kernel=plain", "-Dplumbline.threads=1"),
                List.of("-Xcomp", "-XX:-TieredCompilation", "-Dplumbline.kernel=plain", "-Dplumbline.threads=2"),
                List.of("--add-modules", "jdk.incubator.vector", "-Dplumbline.kernel=vector", "-Dplumbline.threads=2"));
    }

    @Test
    void theTrainedDecoderComesBackAsItself() {
        Decoder trained = MadeUpFactors.trained(40, 9);
        DecoderFactors factors = DecoderFactors.ofTrained(trained);
        assertEquals(trained.sha256(), factors.of(trained).sha256());
        assertTrue(factors.bytes() < 100, () -> factors.bytes() + " bytes");
        // Told apart by nothing below float32, and so by nothing the factors do not hold.
        Matrix finer = trained.weights().toMatrix();
        finer.values()[5] *= 1.0 + 1e-12;
        Decoder other = new Decoder(finer, trained.bias());
        assertEquals(trained.sha256(), factors.of(other).sha256());
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void whatTheTrainedWeightsHoldBeyondFloatsPlaysNoPart(Form form) {
        Decoder trained = MadeUpFactors.trained(301, 45);
        Matrix finer = trained.weights().toMatrix();
        for (int i = 0; i < finer.values().length; i++) {
            finer.values()[i] *= 1.0 + 0x1p-26;
        }
        DecoderFactors factors = MadeUpFactors.of(form, trained, 7, 60, 11);
        Decoder other = new Decoder(finer, trained.bias());
        assertEquals(factors.of(trained).sha256(), factors.of(other).sha256());
    }

    /** Tests the sizes of GPT-2 small and Pythia 1.4B: N = 2,048 rows of TopK-32 codes. */
    @Test
    void sevenAndEighteenMegabytesTravelInsteadOf75And537() {
        DecoderFactors gpt2 = factors(24_576, 768, 0);
        assertEquals(6_827_012, gpt2.bytes());
        assertEquals(7_023_620, factors(24_576, 768, 32).bytes());
        assertEquals(17_317_892, factors(65_536, 2_048, 0).bytes());
        assertEquals(18_366_468, factors(65_536, 2_048, 64).bytes());
        assertTrue(gpt2.isSmallerThanDense());
        assertFalse(factors(2_000, 768, 0).isSmallerThanDense(), "fewer features than rows");
    }

    private static DecoderFactors factors(int features, int dimension, int rank) {
        int rows = 2_048;
        int active = 32;
        int[] rowStart = new int[rows + 1];
        int[] feature = new int[rows * active];
        double[] value = new double[rows * active];
        for (int entry = 0; entry < feature.length; entry++) {
            feature[entry] = entry % active;
            value[entry] = 1.0;
            rowStart[entry / active + 1] = entry + 1;
        }
        return new DecoderFactors(
                rank == 0 ? null : Matrix.zeros(dimension, rank),
                rank == 0 ? null : Matrix.zeros(dimension, rank),
                new SparseCodes(rows, features, rowStart, feature, value),
                Matrix.zeros(rows, dimension),
                new double[dimension]);
    }

    @Test
    void factorsThatDoNotFitTogetherAreRefused() {
        Matrix square = Matrix.zeros(4, 4);
        Matrix thin = Matrix.zeros(4, 2);
        assertRefused("codes of 2 rows, a dual of 3 x 4", null, null, codes(0, 1), Matrix.zeros(3, 4));
        assertRefused("turn Matrix[4 x 2] and basis null", thin, null, codes(0, 1), Matrix.zeros(2, 4));
        assertRefused("turn null and basis Matrix[4 x 2]", null, thin, codes(0, 1), Matrix.zeros(2, 4));
        assertRefused("basis Matrix[4 x 4]", thin, square, codes(0, 1), Matrix.zeros(2, 4));
        assertRefused("feature 3 after 3 in row 0", null, null, codes(3, 3), Matrix.zeros(2, 4));
        assertRefused("feature 1 after 2 in row 0", null, null, codes(2, 1), Matrix.zeros(2, 4));
        assertRefused("feature -1 after -1 in row 0", null, null, codes(-1, 1), Matrix.zeros(2, 4));
        assertRefused("feature 6 after 1 in row 0", null, null, codes(1, 6), Matrix.zeros(2, 4));
        assertRefused(
                "begin row 0 at entry 0 and the next at 3, of 2 entries",
                null,
                null,
                new SparseCodes(2, 6, new int[] {0, 3, 2}, new int[2], new double[2]),
                Matrix.zeros(2, 4));
        assertRefused("its dual holds NaN at place 3", null, null, codes(0, 1), new Matrix(2, 4, new double[] {
            0, 0, 0, Double.NaN, 0, 0, 0, 0
        }));
        assertRefused("its dual holds 0.1 at place 0", null, null, codes(0, 1), new Matrix(2, 4, new double[] {
            0.1, 0, 0, 0, 0, 0, 0, 0
        }));
        Matrix tenth = Matrix.zeros(4, 2);
        tenth.set(3, 1, 0.1);
        assertRefused("its turn holds 0.1 at place 7", tenth, thin, codes(0, 1), Matrix.zeros(2, 4));
        assertRefused("its basis holds 0.1 at place 7", thin, tenth, codes(0, 1), Matrix.zeros(2, 4));
        SparseCodes finer = new SparseCodes(2, 6, new int[] {0, 2, 2}, new int[] {0, 1}, new double[] {1, 0.1});
        assertRefused("its codes holds 0.1 at place 1", null, null, finer, Matrix.zeros(2, 4));
        Matrix wide = Matrix.zeros(4, 5);
        assertRefused("turn Matrix[4 x 5] and basis Matrix[4 x 5]", wide, wide, codes(0, 1), Matrix.zeros(2, 4));
        DecoderFactors good = new DecoderFactors(thin, thin, codes(0, 5), Matrix.zeros(2, 4), new double[4]);
        ArithmeticException beyond =
                assertThrows(ArithmeticException.class, () -> good.withBias(new double[] {0, 1e39, 0, 0}));
        assertTrue(beyond.getMessage().startsWith("its bias holds 1.0E39, a float holds"), beyond.getMessage());
        Decoder other = MadeUpFactors.trained(7, 4);
        assertThrows(IllegalArgumentException.class, () -> good.of(other));
    }

    @Test
    void aWeightBeyondFloatsIsNamed() {
        Decoder trained = MadeUpFactors.trained(6, 4);
        double[] huge = {Float.MAX_VALUE, 0, 0, 0};
        Matrix dual = new Matrix(2, 4, new double[8]);
        System.arraycopy(huge, 0, dual.values(), 0, 4);
        SparseCodes codes = new SparseCodes(2, 6, new int[] {0, 1, 1}, new int[] {2}, new double[] {3});
        DecoderFactors factors = new DecoderFactors(null, null, codes, dual, new double[4]);
        ArithmeticException thrown = assertThrows(ArithmeticException.class, () -> factors.of(trained));
        assertTrue(thrown.getMessage().startsWith("weight 0 of feature 2 is 1.02"), thrown.getMessage());
    }

    private static SparseCodes codes(int first, int second) {
        return new SparseCodes(2, 6, new int[] {0, 2, 2}, new int[] {first, second}, new double[] {1, 1});
    }

    private static void assertRefused(String words, Matrix turn, Matrix basis, SparseCodes codes, Matrix dual) {
        IllegalArgumentException thrown = assertThrows(
                IllegalArgumentException.class, () -> new DecoderFactors(turn, basis, codes, dual, new double[4]));
        assertTrue(thrown.getMessage().contains(words), thrown.getMessage());
    }
}
