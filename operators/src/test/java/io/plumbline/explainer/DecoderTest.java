package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DecoderTest {

    @Test
    void reconstructionIsCodesTimesWeightsPlusBias() {
        long seed = 3;
        SplittableRandom random = new SplittableRandom(seed);
        Matrix dense = new Matrix(
                5, 4, random.doubles(20, -1, 1).map(v -> Math.max(v, 0)).toArray());
        Decoder decoder = new Decoder(new Matrix(4, 3, random.doubles(12, -1, 1).toArray()), new double[] {1, 2, 3});
        Matrix expected = Kernels.multiply(dense, decoder.weights().toMatrix());
        for (int i = 0; i < expected.values().length; i++) {
            expected.values()[i] += decoder.bias()[i % 3];
        }
        Matrix actual = decoder.reconstruct(SparseCodes.fromDense(dense));
        assertArrayEquals(expected.values(), actual.values(), 32 * 0x1p-53, "seed " + seed);
    }

    @Test
    void identityIsTheHashOfWeightsThenBiasAsFloats() {
        // printf '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\x00\x3f\x00\x00\x80\xbf' |
        // sha256sum
        Decoder decoder = new Decoder(new Matrix(2, 2, new double[] {1, 2, 3, 4}), new double[] {0.5, -1});
        assertEquals("477c2f643c318457298281581a2b41c0c0aa9a0c8c9a7ab09b56a1308d27c099", decoder.sha256());
    }

    @Test
    void identityIsMadeOnceForAllWhoAskAtOnce() {
        Decoder decoder = new Decoder(Matrix.zeros(1_000_000, 1), new double[] {0});
        List<String> hashes =
                IntStream.range(0, 8).parallel().mapToObj(i -> decoder.sha256()).toList();
        for (String hash : hashes) {
            assertSame(decoder.sha256(), hash, "each computation makes a string of its own");
        }
    }

    @Test
    void identityIsKeptByTypesThatHoldEveryFloatOfIt() {
        Decoder halves = new Decoder(new Matrix(2, 1, new double[] {0.25, -1.5}), new double[] {0});
        Decoder fifths = new Decoder(new Matrix(2, 1, new double[] {0.2, 1}), new double[] {0});
        Decoder wide = new Decoder(new Matrix(2, 1, new double[] {1, 65536}), new double[] {0});
        Decoder biased = new Decoder(new Matrix(2, 1, new double[] {1, 2}), new double[] {0.2});
        assertTrue(halves.keepsIdentityAs(DType.F16) && halves.keepsIdentityAs(DType.BF16));
        assertTrue(!fifths.keepsIdentityAs(DType.F16) && !fifths.keepsIdentityAs(DType.BF16));
        assertTrue(!biased.keepsIdentityAs(DType.F16) && biased.keepsIdentityAs(DType.F32));
        assertTrue(fifths.keepsIdentityAs(DType.F32), "0.2 is no float, and the same one before and after");
        assertTrue(!wide.keepsIdentityAs(DType.F16) && wide.keepsIdentityAs(DType.BF16));
        Decoder beyond = new Decoder(new Matrix(1, 1, new double[] {1e39}), new double[] {0});
        assertTrue(!beyond.keepsIdentityAs(DType.F32) && beyond.keepsIdentityAs(DType.F64));
    }

    @Test
    void identityCoversEveryChunkAndTheBias() {
        Decoder large = new Decoder(Matrix.zeros(30_000, 1), new double[] {0});
        Matrix weights = Matrix.zeros(30_000, 1);
        weights.set(29_999, 0, 1);
        Decoder lastWeight = new Decoder(weights, new double[] {0});
        assertNotEquals(large.sha256(), lastWeight.sha256());
        assertNotEquals(large.sha256(), new Decoder(Matrix.zeros(30_000, 1), new double[] {1}).sha256());
    }

    @Test
    void sparseAndDenseAreTheSameCodes() {
        Matrix dense = new Matrix(3, 4, new double[] {0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0});
        SparseCodes codes = SparseCodes.fromDense(dense);
        assertEquals(dense, codes.toDense());
        assertEquals(3, codes.nonZeros());
        assertArrayEquals(new int[] {0, 2, 2, 3}, codes.rowStart());
        assertArrayEquals(new double[] {1, 1.0 / 3, 0, 2.0 / 3}, codes.mean());
        assertEquals(
                new Matrix(2, 4, new double[] {3, 0, 0, 0, 0, 1, 0, 2}),
                codes.select(2, 0).toDense());
        assertArrayEquals(
                new double[4], SparseCodes.fromDense(Matrix.zeros(0, 4)).mean());
    }

    @Test
    void codesThatDoNotHangTogetherAreRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new SparseCodes(1, 4, new int[] {0, 2}, new int[] {1}, new double[] {1}));
        Decoder decoder = new Decoder(Matrix.zeros(4, 2), new double[2]);
        SparseCodes other = SparseCodes.fromDense(Matrix.zeros(1, 5));
        assertThrows(IllegalArgumentException.class, () -> decoder.reconstruct(other));
        assertThrows(IllegalArgumentException.class, () -> new Decoder(Matrix.zeros(4, 2), new double[3]));
    }

    @Test
    void explainerOfPartsThatDoNotFitIsRefused() {
        Encoder encoder = ReluEncoder.of(Matrix.zeros(4, 2), new double[4]);
        Path nowhere = Path.of("nowhere");
        assertThrows(
                IllegalArgumentException.class,
                () -> new Explainer("standard", encoder, new Decoder(Matrix.zeros(5, 2), new double[2]), nowhere));
        Decoder wide = new Decoder(Matrix.zeros(4, 3), new double[3]);
        assertThrows(IllegalArgumentException.class, () -> new Explainer("standard", encoder, wide, nowhere));
        assertEquals(3, new Explainer("transcoder", encoder, wide, nowhere).targetWidth());
    }
}
