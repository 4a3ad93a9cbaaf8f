package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Threshold;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WatchedReport;
import io.plumbline.topology.report.WatchedReport.Harm;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Clean windows of sixteen requests beside a baseline of ten. */
class WatchedMeasureTest extends JudgedWindows {

    private static final String TWO = "watch: {features: [0, 9]}";
    private static final String MANY =
            "watch: {features: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], false_discovery_rate: 0.00025}";

    @BeforeAll
    static void makeBaselineOfTenRequests() throws IOException {
        BaselineBuilder builder = BaselineBuilder.of(Formats.read(folder.resolve("explainer")), List.of(4), List.of());
        for (int record = 0; record < 10; record++) {
            builder.add(new ActivationBatch(WatchedFolder.quiet(-1 - record), null, null));
        }
        builder.build().write(folder.resolve("baseline.safetensors"));
    }

    @Test
    void nothingIsHurtWhereEachMeanCouldHaveBeenFound() throws IOException {
        assertEquals(Harm.NONE, report(TWO, 512).harm());
        assertEquals(Harm.NONE, report(MANY, 512).harm());
    }

    /** Twelve rows come in nine requests, which can be split in too few ways for 48 tests at so low a rate. */
    @Test
    void ofASampleThatCouldNotFindAChangeNothingIsKnown() throws IOException {
        assertEquals(Harm.NONE, report(TWO, 12).harm());
        WatchedReport few = report(MANY, 12);
        assertTrue(few.requests() >= 5, few.toString());
        assertEquals(Harm.UNKNOWN, few.harm(), few.toString());
        assertTrue(few.features().stream().allMatch(one -> one.qValue() != null), few.toString());
    }

    @Test
    void atASiteOfAModelTheKlThatWarnsIsJudgedByTheSiteAlone() throws IOException {
        String kl = Statistic.KL.label();
        double[] windows = IntStream.range(0, 19).asDoubleStream().toArray();
        double[] odd = IntStream.range(0, 19).mapToDouble(i -> i == 0 ? 1e6 : i).toArray();
        NullSample own = new NullSample(4, 128, Map.of(kl, windows, "window_identity", windows));
        NullSample other = new NullSample(4, 128, Map.of("eta", odd, "window_identity", windows));
        Baseline read = Baseline.read(folder.resolve("baseline.safetensors"));
        Baseline alone = new Baseline(
                read.explainerSha256(),
                read.moment(),
                read.reconstructionMoment(),
                read.reconstructionFvu(),
                read.grouping(),
                List.of(own),
                read.masking(),
                read.rows(),
                read.encodedRows(),
                read.requests(),
                read.groups(),
                read.activity(),
                read.wholeRequests(),
                read.provenance());
        Baseline ofModel = alone.judgedWith(4, List.of(new NullSample.OtherSite(List.of(other), List.of("eta"))));
        assertEquals(17.0, level(alarms(List.of("eta"), List.of(kl)), ofModel));
        assertTrue(level(alarms(List.of(kl), List.of()), ofModel) > 17.0, "the model's promise is of its triggers");
    }

    private static SiteSettings.Alarms alarms(List<String> triggers, List<String> warn) {
        Threshold rate = new Threshold.QuantileOfCleanWindows(0.9);
        return new SiteSettings.Alarms(triggers, rate, null, warn, rate, null, DriftPolicy.STANDARD, 64, "model");
    }

    private static double level(SiteSettings.Alarms alarms, Baseline baseline) {
        DriftJudge judge = Objects.requireNonNull(WatchedMeasure.behaviour(alarms, baseline));
        return assertInstanceOf(
                        Threshold.Level.Known.class,
                        judge.level(Statistic.KL.label(), baseline.samplesOf(4).get(0)))
                .value();
    }

    private static WatchedReport report(String watch, int sampled) throws IOException {
        SiteJudge judge = judge(watch);
        return Objects.requireNonNull(
                judge.judge(window(WatchedFolder::quiet, false, sampled), SiteMemory.initial(), null)
                        .report()
                        .section(Sections.WATCHED));
    }
}
