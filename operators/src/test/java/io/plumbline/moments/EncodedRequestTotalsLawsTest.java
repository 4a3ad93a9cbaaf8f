package io.plumbline.moments;

/** Tests the laws of totals that travel as bytes, several parts each. */
class EncodedRequestTotalsLawsTest extends RequestTotalsLawsTest {

    @Override
    void merge(RequestTotals totals, RequestTotals other) {
        other.encode(150).forEach(part -> totals.merge(RequestTotals.decode(part)));
    }
}
