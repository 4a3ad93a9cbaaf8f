package io.plumbline.moments;

/** Tests the laws of samples that travel as bytes, several parts each. */
class EncodedSampleLawsTest extends RowSampleLawsTest {

    @Override
    public void merge(RowSample sample, RowSample other) {
        other.encode(150).forEach(sample::mergeEncoded);
    }
}
