package io.plumbline.moments;

/** Tests the laws where what is merged is the other side's snapshot, as it arrives from a topic. */
class MergedSnapshotLawsTest extends SecondMomentLawsTest {

    @Override
    public void merge(SecondMomentAccumulator accumulator, SecondMomentAccumulator other) {
        accumulator.merge(other.snapshot());
    }
}
