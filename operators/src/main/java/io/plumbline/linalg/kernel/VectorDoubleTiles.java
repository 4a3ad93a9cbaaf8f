package io.plumbline.linalg.kernel;

import java.lang.invoke.VarHandle;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorSpecies;

/** The twin of {@link VectorFloatTiles} in float64; {@code GeneratedDoublesTest} makes it from that one. */
final class VectorDoubleTiles {

    private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
    static final int LANES = SPECIES.length();
    private static final int WIDTH = TileKernel.WIDTH;

    /** Numbers from one row of the left factor of {@link #sixByTwo} to the next: six, filled up to a power of two. */
    static final int LEFT_PITCH = 8;

    /** Numbers from one row of its right factor to the next. */
    static final int RIGHT_PITCH = 2 * LANES;

    /** Places in the right factor for one in the left: with a counter of its own for each, sums were put aside. */
    private static final int RIGHT_FOR_LEFT = RIGHT_PITCH / LEFT_PITCH;

    private VectorDoubleTiles() {}

    /** Multiplies six rows by three vectors: 18 sums, three vectors and six factors, for 32 registers. */
    static void sixByThree(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, before, p);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, before, p + LANES);
        DoubleVector s02 = DoubleVector.fromArray(SPECIES, before, p + 2 * LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, before, p + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        DoubleVector s12 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + 2 * LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        DoubleVector s22 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + 2 * LANES);
        DoubleVector s30 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        DoubleVector s31 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        DoubleVector s32 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH + 2 * LANES);
        DoubleVector s40 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        DoubleVector s41 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH + LANES);
        DoubleVector s42 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH + 2 * LANES);
        DoubleVector s50 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        DoubleVector s51 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH + LANES);
        DoubleVector s52 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH + 2 * LANES);
        int apart = b - a;
        int end = a + count * WIDTH;
        for (int at = a; at < end; at += WIDTH) {
            int of = at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, right, of + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
        }
        s00.intoArray(after, c);
        s01.intoArray(after, c + LANES);
        s02.intoArray(after, c + 2 * LANES);
        s10.intoArray(after, c + WIDTH);
        s11.intoArray(after, c + WIDTH + LANES);
        s12.intoArray(after, c + WIDTH + 2 * LANES);
        s20.intoArray(after, c + 2 * WIDTH);
        s21.intoArray(after, c + 2 * WIDTH + LANES);
        s22.intoArray(after, c + 2 * WIDTH + 2 * LANES);
        s30.intoArray(after, c + 3 * WIDTH);
        s31.intoArray(after, c + 3 * WIDTH + LANES);
        s32.intoArray(after, c + 3 * WIDTH + 2 * LANES);
        s40.intoArray(after, c + 4 * WIDTH);
        s41.intoArray(after, c + 4 * WIDTH + LANES);
        s42.intoArray(after, c + 4 * WIDTH + 2 * LANES);
        s50.intoArray(after, c + 5 * WIDTH);
        s51.intoArray(after, c + 5 * WIDTH + LANES);
        s52.intoArray(after, c + 5 * WIDTH + 2 * LANES);
    }

    /** Multiplies eight rows by three vectors: 24 sums, three vectors and a factor, for 32 registers. */
    static void eightByThree(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, before, p);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, before, p + LANES);
        DoubleVector s02 = DoubleVector.fromArray(SPECIES, before, p + 2 * LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, before, p + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        DoubleVector s12 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + 2 * LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        DoubleVector s22 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + 2 * LANES);
        DoubleVector s30 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        DoubleVector s31 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        DoubleVector s32 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH + 2 * LANES);
        DoubleVector s40 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        DoubleVector s41 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH + LANES);
        DoubleVector s42 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH + 2 * LANES);
        DoubleVector s50 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        DoubleVector s51 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH + LANES);
        DoubleVector s52 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH + 2 * LANES);
        DoubleVector s60 = DoubleVector.fromArray(SPECIES, before, p + 6 * WIDTH);
        DoubleVector s61 = DoubleVector.fromArray(SPECIES, before, p + 6 * WIDTH + LANES);
        DoubleVector s62 = DoubleVector.fromArray(SPECIES, before, p + 6 * WIDTH + 2 * LANES);
        DoubleVector s70 = DoubleVector.fromArray(SPECIES, before, p + 7 * WIDTH);
        DoubleVector s71 = DoubleVector.fromArray(SPECIES, before, p + 7 * WIDTH + LANES);
        DoubleVector s72 = DoubleVector.fromArray(SPECIES, before, p + 7 * WIDTH + 2 * LANES);
        int end = a + count * WIDTH;
        int apart = b - a;
        for (int at = a; at != end; at += WIDTH) {
            int of = at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, right, of + 2 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            DoubleVector a6 = DoubleVector.broadcast(SPECIES, left[at + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            DoubleVector a7 = DoubleVector.broadcast(SPECIES, left[at + 7]);
            s70 = a7.fma(b0, s70);
            s71 = a7.fma(b1, s71);
            s72 = a7.fma(b2, s72);
        }
        s00.intoArray(after, c);
        s01.intoArray(after, c + LANES);
        s02.intoArray(after, c + 2 * LANES);
        s10.intoArray(after, c + WIDTH);
        s11.intoArray(after, c + WIDTH + LANES);
        s12.intoArray(after, c + WIDTH + 2 * LANES);
        s20.intoArray(after, c + 2 * WIDTH);
        s21.intoArray(after, c + 2 * WIDTH + LANES);
        s22.intoArray(after, c + 2 * WIDTH + 2 * LANES);
        s30.intoArray(after, c + 3 * WIDTH);
        s31.intoArray(after, c + 3 * WIDTH + LANES);
        s32.intoArray(after, c + 3 * WIDTH + 2 * LANES);
        s40.intoArray(after, c + 4 * WIDTH);
        s41.intoArray(after, c + 4 * WIDTH + LANES);
        s42.intoArray(after, c + 4 * WIDTH + 2 * LANES);
        s50.intoArray(after, c + 5 * WIDTH);
        s51.intoArray(after, c + 5 * WIDTH + LANES);
        s52.intoArray(after, c + 5 * WIDTH + 2 * LANES);
        s60.intoArray(after, c + 6 * WIDTH);
        s61.intoArray(after, c + 6 * WIDTH + LANES);
        s62.intoArray(after, c + 6 * WIDTH + 2 * LANES);
        s70.intoArray(after, c + 7 * WIDTH);
        s71.intoArray(after, c + 7 * WIDTH + LANES);
        s72.intoArray(after, c + 7 * WIDTH + 2 * LANES);
    }

    /** Multiplies three rows by six vectors: 18 sums, six vectors and three factors, for 32 registers. */
    static void threeBySix(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, before, p);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, before, p + LANES);
        DoubleVector s02 = DoubleVector.fromArray(SPECIES, before, p + 2 * LANES);
        DoubleVector s03 = DoubleVector.fromArray(SPECIES, before, p + 3 * LANES);
        DoubleVector s04 = DoubleVector.fromArray(SPECIES, before, p + 4 * LANES);
        DoubleVector s05 = DoubleVector.fromArray(SPECIES, before, p + 5 * LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, before, p + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        DoubleVector s12 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + 2 * LANES);
        DoubleVector s13 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + 3 * LANES);
        DoubleVector s14 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + 4 * LANES);
        DoubleVector s15 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + 5 * LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        DoubleVector s22 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + 2 * LANES);
        DoubleVector s23 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + 3 * LANES);
        DoubleVector s24 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + 4 * LANES);
        DoubleVector s25 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + 5 * LANES);
        int apart = b - a;
        int end = a + count * WIDTH;
        for (int at = a; at < end; at += WIDTH) {
            int of = at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, right, of + 2 * LANES);
            DoubleVector b3 = DoubleVector.fromArray(SPECIES, right, of + 3 * LANES);
            DoubleVector b4 = DoubleVector.fromArray(SPECIES, right, of + 4 * LANES);
            DoubleVector b5 = DoubleVector.fromArray(SPECIES, right, of + 5 * LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            s03 = a0.fma(b3, s03);
            s04 = a0.fma(b4, s04);
            s05 = a0.fma(b5, s05);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            s13 = a1.fma(b3, s13);
            s14 = a1.fma(b4, s14);
            s15 = a1.fma(b5, s15);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            s23 = a2.fma(b3, s23);
            s24 = a2.fma(b4, s24);
            s25 = a2.fma(b5, s25);
        }
        s00.intoArray(after, c);
        s01.intoArray(after, c + LANES);
        s02.intoArray(after, c + 2 * LANES);
        s03.intoArray(after, c + 3 * LANES);
        s04.intoArray(after, c + 4 * LANES);
        s05.intoArray(after, c + 5 * LANES);
        s10.intoArray(after, c + WIDTH);
        s11.intoArray(after, c + WIDTH + LANES);
        s12.intoArray(after, c + WIDTH + 2 * LANES);
        s13.intoArray(after, c + WIDTH + 3 * LANES);
        s14.intoArray(after, c + WIDTH + 4 * LANES);
        s15.intoArray(after, c + WIDTH + 5 * LANES);
        s20.intoArray(after, c + 2 * WIDTH);
        s21.intoArray(after, c + 2 * WIDTH + LANES);
        s22.intoArray(after, c + 2 * WIDTH + 2 * LANES);
        s23.intoArray(after, c + 2 * WIDTH + 3 * LANES);
        s24.intoArray(after, c + 2 * WIDTH + 4 * LANES);
        s25.intoArray(after, c + 2 * WIDTH + 5 * LANES);
    }

    /**
     * Multiplies six rows by two vectors: 12 sums, two vectors and a factor, for 16 registers. Entry (h, i) of A is at
     * {@code a + h LEFT_PITCH + i}, entry (h, j) of B at {@code b + h RIGHT_PITCH + j}. Two steps a turn: after an odd
     * number of rows A has one of zeros, and B one of finite numbers.
     */
    static void sixByTwo(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, before, p);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, before, p + LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, before, p + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        DoubleVector s30 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        DoubleVector s31 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        DoubleVector s40 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        DoubleVector s41 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH + LANES);
        DoubleVector s50 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        DoubleVector s51 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH + LANES);
        int end = a + (count + count % 2) * LEFT_PITCH;
        int apart = b - RIGHT_FOR_LEFT * a;
        for (int at = a; at < end; at += 2 * LEFT_PITCH) {
            int of = RIGHT_FOR_LEFT * at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            VarHandle.acquireFence();
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            VarHandle.acquireFence();
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            VarHandle.acquireFence();
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            VarHandle.acquireFence();
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            VarHandle.acquireFence();
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            VarHandle.acquireFence();
            DoubleVector b2 = DoubleVector.fromArray(SPECIES, right, of + RIGHT_PITCH);
            DoubleVector b3 = DoubleVector.fromArray(SPECIES, right, of + RIGHT_PITCH + LANES);
            DoubleVector a6 = DoubleVector.broadcast(SPECIES, left[at + LEFT_PITCH]);
            s00 = a6.fma(b2, s00);
            s01 = a6.fma(b3, s01);
            VarHandle.acquireFence();
            DoubleVector a7 = DoubleVector.broadcast(SPECIES, left[at + LEFT_PITCH + 1]);
            s10 = a7.fma(b2, s10);
            s11 = a7.fma(b3, s11);
            VarHandle.acquireFence();
            DoubleVector a8 = DoubleVector.broadcast(SPECIES, left[at + LEFT_PITCH + 2]);
            s20 = a8.fma(b2, s20);
            s21 = a8.fma(b3, s21);
            VarHandle.acquireFence();
            DoubleVector a9 = DoubleVector.broadcast(SPECIES, left[at + LEFT_PITCH + 3]);
            s30 = a9.fma(b2, s30);
            s31 = a9.fma(b3, s31);
            VarHandle.acquireFence();
            DoubleVector a10 = DoubleVector.broadcast(SPECIES, left[at + LEFT_PITCH + 4]);
            s40 = a10.fma(b2, s40);
            s41 = a10.fma(b3, s41);
            VarHandle.acquireFence();
            DoubleVector a11 = DoubleVector.broadcast(SPECIES, left[at + LEFT_PITCH + 5]);
            s50 = a11.fma(b2, s50);
            s51 = a11.fma(b3, s51);
        }
        s00.intoArray(after, c);
        s01.intoArray(after, c + LANES);
        s10.intoArray(after, c + WIDTH);
        s11.intoArray(after, c + WIDTH + LANES);
        s20.intoArray(after, c + 2 * WIDTH);
        s21.intoArray(after, c + 2 * WIDTH + LANES);
        s30.intoArray(after, c + 3 * WIDTH);
        s31.intoArray(after, c + 3 * WIDTH + LANES);
        s40.intoArray(after, c + 4 * WIDTH);
        s41.intoArray(after, c + 4 * WIDTH + LANES);
        s50.intoArray(after, c + 5 * WIDTH);
        s51.intoArray(after, c + 5 * WIDTH + LANES);
    }

    /**
     * Multiplies four rows by two vectors of strips: eight sums, as many as two units of multiply-adds have under
     * way.
     */
    static void fourByTwo(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        DoubleVector s00 = DoubleVector.fromArray(SPECIES, before, p);
        DoubleVector s01 = DoubleVector.fromArray(SPECIES, before, p + LANES);
        DoubleVector s10 = DoubleVector.fromArray(SPECIES, before, p + WIDTH);
        DoubleVector s11 = DoubleVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        DoubleVector s20 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        DoubleVector s21 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        DoubleVector s30 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        DoubleVector s31 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        int apart = b - a;
        int end = a + count * WIDTH;
        for (int at = a; at < end; at += WIDTH) {
            int of = at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector b1 = DoubleVector.fromArray(SPECIES, right, of + LANES);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            VarHandle.acquireFence();
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            VarHandle.acquireFence();
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            VarHandle.acquireFence();
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
        }
        s00.intoArray(after, c);
        s01.intoArray(after, c + LANES);
        s10.intoArray(after, c + WIDTH);
        s11.intoArray(after, c + WIDTH + LANES);
        s20.intoArray(after, c + 2 * WIDTH);
        s21.intoArray(after, c + 2 * WIDTH + LANES);
        s30.intoArray(after, c + 3 * WIDTH);
        s31.intoArray(after, c + 3 * WIDTH + LANES);
    }

    /** Multiplies eight rows by one vector, where no more is wanted. */
    static void eightByOne(
            double[] left, int a, double[] right, int b, int count, double[] before, int p, double[] after, int c) {
        DoubleVector s0 = DoubleVector.fromArray(SPECIES, before, p);
        DoubleVector s1 = DoubleVector.fromArray(SPECIES, before, p + WIDTH);
        DoubleVector s2 = DoubleVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        DoubleVector s3 = DoubleVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        DoubleVector s4 = DoubleVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        DoubleVector s5 = DoubleVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        DoubleVector s6 = DoubleVector.fromArray(SPECIES, before, p + 6 * WIDTH);
        DoubleVector s7 = DoubleVector.fromArray(SPECIES, before, p + 7 * WIDTH);
        int end = a + count * WIDTH;
        int apart = b - a;
        for (int at = a; at != end; at += WIDTH) {
            int of = at + apart;
            DoubleVector b0 = DoubleVector.fromArray(SPECIES, right, of);
            DoubleVector a0 = DoubleVector.broadcast(SPECIES, left[at]);
            s0 = a0.fma(b0, s0);
            DoubleVector a1 = DoubleVector.broadcast(SPECIES, left[at + 1]);
            s1 = a1.fma(b0, s1);
            DoubleVector a2 = DoubleVector.broadcast(SPECIES, left[at + 2]);
            s2 = a2.fma(b0, s2);
            DoubleVector a3 = DoubleVector.broadcast(SPECIES, left[at + 3]);
            s3 = a3.fma(b0, s3);
            DoubleVector a4 = DoubleVector.broadcast(SPECIES, left[at + 4]);
            s4 = a4.fma(b0, s4);
            DoubleVector a5 = DoubleVector.broadcast(SPECIES, left[at + 5]);
            s5 = a5.fma(b0, s5);
            DoubleVector a6 = DoubleVector.broadcast(SPECIES, left[at + 6]);
            s6 = a6.fma(b0, s6);
            DoubleVector a7 = DoubleVector.broadcast(SPECIES, left[at + 7]);
            s7 = a7.fma(b0, s7);
        }
        s0.intoArray(after, c);
        s1.intoArray(after, c + WIDTH);
        s2.intoArray(after, c + 2 * WIDTH);
        s3.intoArray(after, c + 3 * WIDTH);
        s4.intoArray(after, c + 4 * WIDTH);
        s5.intoArray(after, c + 5 * WIDTH);
        s6.intoArray(after, c + 6 * WIDTH);
        s7.intoArray(after, c + 7 * WIDTH);
    }
}
