package io.plumbline.moments;

/** The same laws when samples travel as bytes, several parts each. */
class EncodedSampleLawsTest extends RowSampleLawsTest {

    @Override
    void merge(RowSample sample, RowSample other) {
        other.encode(150).forEach(sample::mergeEncoded);
    }
}
