package io.plumbline.moments;

/** The same laws when what is merged is the other side's snapshot, as it arrives from a topic. */
class MergedSnapshotLawsTest extends SecondMomentLawsTest {

    @Override
    void merge(SecondMomentAccumulator accumulator, SecondMomentAccumulator other) {
        accumulator.merge(other.snapshot());
    }
}
