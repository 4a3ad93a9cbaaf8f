package io.plumbline.linalg.kernel;

import java.lang.invoke.VarHandle;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops that all fast products of floats are made of: {@code C += A^T B} for a tile C of a few rows by a few
 * vectors, whose sums stay in registers over {@code count} rows of A and B. The distance between rows is a constant in
 * each of them: with the distance as an argument the JVM's compiler checks every index in the loop.
 *
 * <p>Which shape is fastest depends on the number of vector registers, so {@link VectorFloatTileKernel} takes one. Each
 * is written out, since only local variables stay in registers.
 * <b>An entry is the same to the last bit in all of them</b>, and with vectors of any length: products are added one
 * after the other, each with one rounding.
 *
 * <p><b>32 registers.</b> {@link #sixByThree} multiplies squares. It is counted by {@code <}: then the JVM's compiler
 * takes the checks of indices out of it and fetches all factors of a row at once, which is 33 instructions for 18
 * multiply-adds, and 27 registers. {@link #eightByThree}, for what has eight rows, checks them: 59 for 24, too many for
 * a processor that begins four a cycle. Counted it would have one register too few, and a sum be kept on the stack, at
 * a third to two thirds of the speed. The loops of eight rows walk from row to row of A: with a counter of rows besides
 * the two places, and a profile of products of one row, they kept places in vector registers, at a tenth less.
 *
 * <p><b>32 registers, factors by instructions of their own.</b> On ARM a factor takes the place of a product, and the
 * JVM's compiler fetches all factors of a row at once however the loop ends: of eight by three, two or three sums lay
 * on the stack. {@link #threeBySix} leaves five registers, and none is put aside.
 *
 * <p><b>16 registers.</b> Checks of indices are a third of the instructions there, so {@link #sixByTwo} and {@link
 * #fourByTwo} are counted by {@code <}. What holds the compiler back from fetching ahead is a fence after each
 * factor: on the processors with 16 vector registers it is no instruction, and loads do not move across it. A turn of
 * the former is 24 multiply-adds and 16 loads. Its factors lie side by side as a tile reads them: in rows of {@value
 * FloatTileKernel#WIDTH} numbers a pair of strips is more than a first-level cache of 32 KiB, and a square took a
 * third longer. The latter multiplies strips as they lie, where laying them out would not pay.
 *
 * <p>Sums begin with what is in {@code before}, zeros for a product alone. The loops are kept small on purpose: with a
 * conversion to double inside, the JVM's first compiler gives up on the method and it is interpreted for good.
 *
 * <p>The build makes the class for doubles, {@code VectorDoubleTiles}, from this one (see {@code operators/pom.xml}):
 * the two vector classes have no common type with lanes of any kind, and a detour through one would put objects where
 * registers should be.
 */
final class VectorFloatTiles {

    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    static final int LANES = SPECIES.length();
    private static final int WIDTH = FloatTileKernel.WIDTH;

    /** Numbers from one row of the left factor of {@link #sixByTwo} to the next: six, filled up to a power of two. */
    static final int LEFT_PITCH = 8;

    /** Numbers from one row of its right factor to the next. */
    static final int RIGHT_PITCH = 2 * LANES;

    /** Places in the right factor for one in the left: with a counter of its own for each, sums were put aside. */
    private static final int RIGHT_FOR_LEFT = RIGHT_PITCH / LEFT_PITCH;

    private VectorFloatTiles() {}

    /** Multiplies six rows by three vectors: 18 sums, three vectors and six factors, for 32 registers. */
    static void sixByThree(
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        FloatVector s00 = FloatVector.fromArray(SPECIES, before, p);
        FloatVector s01 = FloatVector.fromArray(SPECIES, before, p + LANES);
        FloatVector s02 = FloatVector.fromArray(SPECIES, before, p + 2 * LANES);
        FloatVector s10 = FloatVector.fromArray(SPECIES, before, p + WIDTH);
        FloatVector s11 = FloatVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        FloatVector s12 = FloatVector.fromArray(SPECIES, before, p + WIDTH + 2 * LANES);
        FloatVector s20 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        FloatVector s21 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        FloatVector s22 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + 2 * LANES);
        FloatVector s30 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        FloatVector s31 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        FloatVector s32 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH + 2 * LANES);
        FloatVector s40 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        FloatVector s41 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH + LANES);
        FloatVector s42 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH + 2 * LANES);
        FloatVector s50 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        FloatVector s51 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH + LANES);
        FloatVector s52 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH + 2 * LANES);
        int apart = b - a;
        int end = a + count * WIDTH;
        for (int at = a; at < end; at += WIDTH) {
            int of = at + apart;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, right, of + 2 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            FloatVector a4 = FloatVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            FloatVector a5 = FloatVector.broadcast(SPECIES, left[at + 5]);
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
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        FloatVector s00 = FloatVector.fromArray(SPECIES, before, p);
        FloatVector s01 = FloatVector.fromArray(SPECIES, before, p + LANES);
        FloatVector s02 = FloatVector.fromArray(SPECIES, before, p + 2 * LANES);
        FloatVector s10 = FloatVector.fromArray(SPECIES, before, p + WIDTH);
        FloatVector s11 = FloatVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        FloatVector s12 = FloatVector.fromArray(SPECIES, before, p + WIDTH + 2 * LANES);
        FloatVector s20 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        FloatVector s21 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        FloatVector s22 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + 2 * LANES);
        FloatVector s30 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        FloatVector s31 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        FloatVector s32 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH + 2 * LANES);
        FloatVector s40 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        FloatVector s41 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH + LANES);
        FloatVector s42 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH + 2 * LANES);
        FloatVector s50 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        FloatVector s51 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH + LANES);
        FloatVector s52 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH + 2 * LANES);
        FloatVector s60 = FloatVector.fromArray(SPECIES, before, p + 6 * WIDTH);
        FloatVector s61 = FloatVector.fromArray(SPECIES, before, p + 6 * WIDTH + LANES);
        FloatVector s62 = FloatVector.fromArray(SPECIES, before, p + 6 * WIDTH + 2 * LANES);
        FloatVector s70 = FloatVector.fromArray(SPECIES, before, p + 7 * WIDTH);
        FloatVector s71 = FloatVector.fromArray(SPECIES, before, p + 7 * WIDTH + LANES);
        FloatVector s72 = FloatVector.fromArray(SPECIES, before, p + 7 * WIDTH + 2 * LANES);
        int end = a + count * WIDTH;
        int apart = b - a;
        for (int at = a; at != end; at += WIDTH) {
            int of = at + apart;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, right, of + 2 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            s22 = a2.fma(b2, s22);
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            s32 = a3.fma(b2, s32);
            FloatVector a4 = FloatVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            s42 = a4.fma(b2, s42);
            FloatVector a5 = FloatVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            s52 = a5.fma(b2, s52);
            FloatVector a6 = FloatVector.broadcast(SPECIES, left[at + 6]);
            s60 = a6.fma(b0, s60);
            s61 = a6.fma(b1, s61);
            s62 = a6.fma(b2, s62);
            FloatVector a7 = FloatVector.broadcast(SPECIES, left[at + 7]);
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
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        FloatVector s00 = FloatVector.fromArray(SPECIES, before, p);
        FloatVector s01 = FloatVector.fromArray(SPECIES, before, p + LANES);
        FloatVector s02 = FloatVector.fromArray(SPECIES, before, p + 2 * LANES);
        FloatVector s03 = FloatVector.fromArray(SPECIES, before, p + 3 * LANES);
        FloatVector s04 = FloatVector.fromArray(SPECIES, before, p + 4 * LANES);
        FloatVector s05 = FloatVector.fromArray(SPECIES, before, p + 5 * LANES);
        FloatVector s10 = FloatVector.fromArray(SPECIES, before, p + WIDTH);
        FloatVector s11 = FloatVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        FloatVector s12 = FloatVector.fromArray(SPECIES, before, p + WIDTH + 2 * LANES);
        FloatVector s13 = FloatVector.fromArray(SPECIES, before, p + WIDTH + 3 * LANES);
        FloatVector s14 = FloatVector.fromArray(SPECIES, before, p + WIDTH + 4 * LANES);
        FloatVector s15 = FloatVector.fromArray(SPECIES, before, p + WIDTH + 5 * LANES);
        FloatVector s20 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        FloatVector s21 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        FloatVector s22 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + 2 * LANES);
        FloatVector s23 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + 3 * LANES);
        FloatVector s24 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + 4 * LANES);
        FloatVector s25 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + 5 * LANES);
        int apart = b - a;
        int end = a + count * WIDTH;
        for (int at = a; at < end; at += WIDTH) {
            int of = at + apart;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector b2 = FloatVector.fromArray(SPECIES, right, of + 2 * LANES);
            FloatVector b3 = FloatVector.fromArray(SPECIES, right, of + 3 * LANES);
            FloatVector b4 = FloatVector.fromArray(SPECIES, right, of + 4 * LANES);
            FloatVector b5 = FloatVector.fromArray(SPECIES, right, of + 5 * LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            s02 = a0.fma(b2, s02);
            s03 = a0.fma(b3, s03);
            s04 = a0.fma(b4, s04);
            s05 = a0.fma(b5, s05);
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            s12 = a1.fma(b2, s12);
            s13 = a1.fma(b3, s13);
            s14 = a1.fma(b4, s14);
            s15 = a1.fma(b5, s15);
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
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
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        FloatVector s00 = FloatVector.fromArray(SPECIES, before, p);
        FloatVector s01 = FloatVector.fromArray(SPECIES, before, p + LANES);
        FloatVector s10 = FloatVector.fromArray(SPECIES, before, p + WIDTH);
        FloatVector s11 = FloatVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        FloatVector s20 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        FloatVector s21 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        FloatVector s30 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        FloatVector s31 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        FloatVector s40 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        FloatVector s41 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH + LANES);
        FloatVector s50 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        FloatVector s51 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH + LANES);
        int end = a + (count + count % 2) * LEFT_PITCH;
        int apart = b - RIGHT_FOR_LEFT * a;
        for (int at = a; at < end; at += 2 * LEFT_PITCH) {
            int of = RIGHT_FOR_LEFT * at + apart;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            VarHandle.acquireFence();
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            VarHandle.acquireFence();
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            VarHandle.acquireFence();
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
            s30 = a3.fma(b0, s30);
            s31 = a3.fma(b1, s31);
            VarHandle.acquireFence();
            FloatVector a4 = FloatVector.broadcast(SPECIES, left[at + 4]);
            s40 = a4.fma(b0, s40);
            s41 = a4.fma(b1, s41);
            VarHandle.acquireFence();
            FloatVector a5 = FloatVector.broadcast(SPECIES, left[at + 5]);
            s50 = a5.fma(b0, s50);
            s51 = a5.fma(b1, s51);
            VarHandle.acquireFence();
            FloatVector b2 = FloatVector.fromArray(SPECIES, right, of + RIGHT_PITCH);
            FloatVector b3 = FloatVector.fromArray(SPECIES, right, of + RIGHT_PITCH + LANES);
            FloatVector a6 = FloatVector.broadcast(SPECIES, left[at + LEFT_PITCH]);
            s00 = a6.fma(b2, s00);
            s01 = a6.fma(b3, s01);
            VarHandle.acquireFence();
            FloatVector a7 = FloatVector.broadcast(SPECIES, left[at + LEFT_PITCH + 1]);
            s10 = a7.fma(b2, s10);
            s11 = a7.fma(b3, s11);
            VarHandle.acquireFence();
            FloatVector a8 = FloatVector.broadcast(SPECIES, left[at + LEFT_PITCH + 2]);
            s20 = a8.fma(b2, s20);
            s21 = a8.fma(b3, s21);
            VarHandle.acquireFence();
            FloatVector a9 = FloatVector.broadcast(SPECIES, left[at + LEFT_PITCH + 3]);
            s30 = a9.fma(b2, s30);
            s31 = a9.fma(b3, s31);
            VarHandle.acquireFence();
            FloatVector a10 = FloatVector.broadcast(SPECIES, left[at + LEFT_PITCH + 4]);
            s40 = a10.fma(b2, s40);
            s41 = a10.fma(b3, s41);
            VarHandle.acquireFence();
            FloatVector a11 = FloatVector.broadcast(SPECIES, left[at + LEFT_PITCH + 5]);
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
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        FloatVector s00 = FloatVector.fromArray(SPECIES, before, p);
        FloatVector s01 = FloatVector.fromArray(SPECIES, before, p + LANES);
        FloatVector s10 = FloatVector.fromArray(SPECIES, before, p + WIDTH);
        FloatVector s11 = FloatVector.fromArray(SPECIES, before, p + WIDTH + LANES);
        FloatVector s20 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        FloatVector s21 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH + LANES);
        FloatVector s30 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        FloatVector s31 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH + LANES);
        int apart = b - a;
        int end = a + count * WIDTH;
        for (int at = a; at < end; at += WIDTH) {
            int of = at + apart;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector b1 = FloatVector.fromArray(SPECIES, right, of + LANES);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s00 = a0.fma(b0, s00);
            s01 = a0.fma(b1, s01);
            VarHandle.acquireFence();
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s10 = a1.fma(b0, s10);
            s11 = a1.fma(b1, s11);
            VarHandle.acquireFence();
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s20 = a2.fma(b0, s20);
            s21 = a2.fma(b1, s21);
            VarHandle.acquireFence();
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
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
            float[] left, int a, float[] right, int b, int count, float[] before, int p, float[] after, int c) {
        FloatVector s0 = FloatVector.fromArray(SPECIES, before, p);
        FloatVector s1 = FloatVector.fromArray(SPECIES, before, p + WIDTH);
        FloatVector s2 = FloatVector.fromArray(SPECIES, before, p + 2 * WIDTH);
        FloatVector s3 = FloatVector.fromArray(SPECIES, before, p + 3 * WIDTH);
        FloatVector s4 = FloatVector.fromArray(SPECIES, before, p + 4 * WIDTH);
        FloatVector s5 = FloatVector.fromArray(SPECIES, before, p + 5 * WIDTH);
        FloatVector s6 = FloatVector.fromArray(SPECIES, before, p + 6 * WIDTH);
        FloatVector s7 = FloatVector.fromArray(SPECIES, before, p + 7 * WIDTH);
        int end = a + count * WIDTH;
        int apart = b - a;
        for (int at = a; at != end; at += WIDTH) {
            int of = at + apart;
            FloatVector b0 = FloatVector.fromArray(SPECIES, right, of);
            FloatVector a0 = FloatVector.broadcast(SPECIES, left[at]);
            s0 = a0.fma(b0, s0);
            FloatVector a1 = FloatVector.broadcast(SPECIES, left[at + 1]);
            s1 = a1.fma(b0, s1);
            FloatVector a2 = FloatVector.broadcast(SPECIES, left[at + 2]);
            s2 = a2.fma(b0, s2);
            FloatVector a3 = FloatVector.broadcast(SPECIES, left[at + 3]);
            s3 = a3.fma(b0, s3);
            FloatVector a4 = FloatVector.broadcast(SPECIES, left[at + 4]);
            s4 = a4.fma(b0, s4);
            FloatVector a5 = FloatVector.broadcast(SPECIES, left[at + 5]);
            s5 = a5.fma(b0, s5);
            FloatVector a6 = FloatVector.broadcast(SPECIES, left[at + 6]);
            s6 = a6.fma(b0, s6);
            FloatVector a7 = FloatVector.broadcast(SPECIES, left[at + 7]);
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
