package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class InForceTest {

    @Test
    void whatBeganBeforeAnEdgeHasTheValueThatHeldThen() {
        InForce<String> value = InForce.of("first");
        value.takeOver(100, "second");
        assertEquals("first", value.at(99));
        assertEquals("second", value.at(100));
        assertEquals("second", value.newest());
    }

    @Test
    void aLaterValueWithAnEarlierEdgeTakesThePlaceOfWhatWaits() {
        InForce<String> value = InForce.of("first");
        value.takeOver(200, "waits");
        value.takeOver(100, "second");
        assertEquals("first", value.at(99));
        assertEquals("second", value.at(300));
    }

    @Test
    void whatIsMadeOfAValueHoldsFromTheSameEdgeAndKnowsWhatWasBefore() {
        InForce<Integer> value = InForce.of(1);
        InForce<String> made = value.map((number, before) -> before + "," + number);
        InForce<Integer> length = made.map(String::length);
        value.takeOver(100, 22);
        assertEquals("null,1", made.at(99));
        assertEquals("null,1,22", made.at(100));
        assertEquals(9, length.at(100));
    }

    @Test
    void aValueOfWhichSomethingCannotBeMadeIsNotTakenOver() {
        InForce<Integer> value = InForce.of(1);
        InForce<Integer> first = value.map(number -> number);
        InForce<Integer> inverse = value.map(number -> 10 / number);
        assertThrows(ArithmeticException.class, () -> value.takeOver(100, 0));
        assertEquals(1, value.newest());
        assertEquals(1, first.newest());
        assertEquals(10, inverse.newest());
    }

    @Test
    void anyNumberOfChangesAheadLeaveInServiceWhatIs() {
        InForce<String> value = InForce.of("first");
        for (int edge = 1; edge <= 5; edge++) {
            value.takeOver(100L * edge, "change " + edge);
        }
        assertEquals("first", value.at(99));
        assertEquals("change 3", value.at(399));
    }

    @Test
    void whatNoWindowNeedsIsForgottenAndWhatHoldsIsKept() {
        InForce<String> value = InForce.of("first");
        InForce<String> made = value.map(text -> text + "!");
        value.takeOver(100, "second");
        value.forgetBefore(99);
        assertEquals("first", value.at(0));
        value.forgetBefore(100);
        assertEquals("second", value.at(0));
        assertEquals("second!", made.at(0));
    }
}
