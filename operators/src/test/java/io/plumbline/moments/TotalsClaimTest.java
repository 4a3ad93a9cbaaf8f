package io.plumbline.moments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationRecord;
import io.plumbline.records.MomentClaim;
import io.plumbline.records.MomentRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SentMoment;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class TotalsClaimTest {

    @Test
    void totalsThatNoRequestsHaveAreRefusedByASentence() {
        refuse("the mixed hash of total 1 is", sent -> sent.totalled[1] = sent.totalled[0]);
        refuse("the mixed hash of total 2 is", sent -> {
            long last = sent.totalled[2];
            sent.totalled[2] = sent.totalled[1];
            sent.totalled[1] = last;
        });
        refuse("the longest row is said to be", sent -> sent.totalSums.set(1, 2, 1e6));
        refuse("and the totals of 20 of 20 rows add up to", sent -> move(sent.totalSums, 0, 3, 1));
        refuse("which has no total", sent -> sent.requestsOfRows[1] = 17);
    }

    @Test
    void aSumOfOtherSignsThanTheRowsAllowIsRefused() {
        SentMoment sent = SentMoment.ofRows(20, 1, 4);
        for (int column = 0; column < 4; column++) {
            sent.totalSums.set(0, column, column == 0 ? 120 : 0);
            sent.totalSums.set(1, column, column == 0 ? -130 : 0);
        }
        MomentClaim.Fault fault = TotalsClaim.fault(read(sent));
        assertNotNull(fault);
        assertTrue(fault.message().startsWith("column 0 of the totals needs squares of"), fault.message());
    }

    @Test
    void aTotalThatIsNotFiniteIsRefusedAsSuch() {
        for (double bad : new double[] {Double.NaN, Double.NEGATIVE_INFINITY}) {
            SentMoment sent = SentMoment.ofRows(20, 6, 4);
            sent.totalSums.set(2, 1, bad);
            MomentClaim.Fault fault = TotalsClaim.fault(read(sent));
            assertNotNull(fault);
            assertTrue(fault.nonFinite(), fault.message());
            assertTrue(fault.message().startsWith("entry (2, 1) of \"total_sum\" is"), fault.message());
        }
    }

    /** Tests a sample with every row, which shows the request of each. */
    @Test
    void aWholeSampleShowsRowsThatWereGivenToAnotherRequest() {
        SentMoment counted = SentMoment.ofRows(20, 20, 4);
        counted.totalCounts[0][1]++;
        counted.totalCounts[1][1]--;
        MomentClaim.Fault fault = TotalsClaim.fault(read(counted));
        assertNotNull(fault);
        assertTrue(fault.message().contains("are sampled"), fault.message());
        SentMoment summed = SentMoment.ofRows(20, 20, 4);
        move(summed.totalSums, 0, 1, 1);
        move(summed.totalSums, 1, 1, -1);
        fault = TotalsClaim.fault(read(summed));
        assertNotNull(fault);
        assertTrue(fault.message().contains("and the sampled rows, all of them, give"), fault.message());
    }

    @Test
    void someOfTheRequestsMayHaveTotalsAndTheirOthersAreBounded() {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        keepFirst(sent, 2);
        MomentRecord record = read(sent);
        assertEquals(false, record.isTotalledWhole());
        assertNull(TotalsClaim.fault(record));
        sent.totalType = DType.F64;
        assertNull(TotalsClaim.fault(read(sent)));
        double listed = sent.totalSums.get(0, 1) + sent.totalSums.get(1, 1);
        sent.state[1] = listed + 1.05 * Math.sqrt((20 - rowsOf(sent)) * sent.state[sent.at(1, 1)]);
        assertNull(MomentClaim.fault(read(sent)));
        MomentClaim.Fault fault = TotalsClaim.fault(read(sent));
        assertNotNull(fault);
        assertTrue(fault.message().startsWith("entry 1 of the sum is"), fault.message());
    }

    private static void keepFirst(SentMoment sent, int most) {
        sent.totalled = Arrays.copyOf(sent.totalled, most);
        sent.totalCounts = Arrays.copyOf(sent.totalCounts, most);
        sent.totalNames = sent.totalNames.substring(0, (int)
                Arrays.stream(sent.totalCounts).mapToLong(counts -> counts[2]).sum());
        sent.totalSums = sent.totalSums.rowRange(0, most);
    }

    private static long rowsOf(SentMoment sent) {
        return Arrays.stream(sent.totalCounts).mapToLong(counts -> counts[1]).sum();
    }

    private static void move(Matrix sums, int row, int column, double by) {
        sums.set(row, column, sums.get(row, column) + by);
    }

    private static void refuse(String message, Consumer<SentMoment> change) {
        SentMoment sent = SentMoment.ofRows(20, 6, 4);
        assertNull(TotalsClaim.fault(read(sent)));
        change.accept(sent);
        MomentClaim.Fault fault = TotalsClaim.fault(read(sent));
        assertNotNull(fault, message);
        assertTrue(fault.message().contains(message), fault.message());
        assertTrue(fault.message().endsWith("nothing of the moment was added"), fault.message());
    }

    private static MomentRecord read(SentMoment sent) {
        return (MomentRecord) ActivationRecord.parse(sent.blob(), new KnownHeaders());
    }
}
