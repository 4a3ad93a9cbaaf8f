package io.plumbline.geometry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.moments.SecondMoment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a statistic is one entry and one computation, as far as the mathematics goes. */
class StatisticTest {

    private static final Decoder DECODER = new Decoder(Instances.gaussian(new Random(1), 9, 4), new double[4]);
    private static final SiteGeometry SITE = SiteGeometry.of(DECODER, moment(2), null, 2);

    @Test
    void anAssessmentHasEveryEntryWithANumberOrAReason() {
        GapAssessment window = SITE.assess(moment(3));
        assertEquals(EnumSet.allOf(Statistic.class), window.values().keySet());
        Set<String> both = new HashSet<>(window.statistics().keySet());
        both.addAll(window.undefined().keySet());
        assertEquals(Set.copyOf(GapAssessment.statisticNames()), both);
    }

    static Stream<Statistic> ofTheMoment() {
        return Arrays.stream(Statistic.values()).filter(one -> one.source() == Statistic.Source.MOMENT);
    }

    @ParameterizedTest
    @MethodSource("ofTheMoment")
    void anEntryOfTheMomentThatNobodyComputesIsRefused(Statistic forgotten) {
        AssessmentBuilder builder = new AssessmentBuilder();
        EnumSet.complementOf(EnumSet.of(forgotten)).forEach(one -> builder.put(one, null, () -> 1.0));
        assertEquals(
                forgotten + " comes from the moment and was not computed",
                assertThrows(IllegalStateException.class, () -> builder.build(9, 4, 2, null, null))
                        .getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void aNumberComputedTwiceIsRefused(Statistic statistic) {
        AssessmentBuilder builder = new AssessmentBuilder().put(statistic, null, () -> 1.0);
        assertThrows(IllegalStateException.class, () -> builder.put(statistic, "no reason", () -> 2.0));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsAddedTakesThePlaceOfWhatWasThereAndChangesNothingElse(Statistic statistic) {
        GapAssessment window = SITE.assess(moment(3));
        GapAssessment more = window.with(statistic, 0.125);
        assertEquals(0.125, more.statistic(statistic.label()).orElseThrow());
        GapAssessment less = more.with(statistic, new Value.Undefined("a test said so"));
        assertEquals("a test said so", less.undefined().get(statistic.label()));
        assertTrue(less.value(statistic).isEmpty());
        Value before = window.values().get(statistic);
        assertEquals(window, less.with(statistic, before == null ? new Value.Undefined("absent") : before));
    }

    @Test
    void namesAndPlacesOnTheScrapeAreThereOnceAndBoundsAreOfGaps() {
        List<Statistic> all = Arrays.asList(Statistic.values());
        assertEquals(all.size(), all.stream().map(Statistic::series).distinct().count());
        for (Statistic statistic : all) {
            assertEquals(statistic, Statistic.find(statistic.label()).orElseThrow());
            assertTrue(statistic.label().matches("[a-z][a-z0-9]*(_[a-z]+)*"), statistic.label());
            assertTrue(!statistic.help().isBlank() && !statistic.help().endsWith("."), statistic.help());
            assertTrue(statistic.bound().map(bound -> bound.gap().isGap()).orElse(true), statistic.label());
        }
    }

    private static SecondMoment moment(long seed) {
        return SecondMoment.of(Instances.gaussian(new Random(seed), 40, 4));
    }
}
