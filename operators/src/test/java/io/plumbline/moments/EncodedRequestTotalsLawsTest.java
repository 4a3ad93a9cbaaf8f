package io.plumbline.moments;

import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.RequestTotalsLawsTest;

/** Tests the laws of totals that travel as bytes, several parts each. */
class EncodedRequestTotalsLawsTest extends RequestTotalsLawsTest {

    @Override
    public void merge(RequestTotals totals, RequestTotals other) {
        other.encode(150).forEach(part -> totals.merge(RequestTotals.decode(part)));
    }
}
