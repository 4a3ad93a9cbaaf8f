package io.plumbline.topology.detection;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample.OtherSite;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.Threshold;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Prints docs/data/detection-models.csv: how often a model of 64 sites is above on clean and on foreign windows, by one
 * promise for all sites and by 64 single ones. A site is a recording whose rows are rotated and stretched in a way of
 * its own, as the layers of a model stress different directions, explained by its leading principal components. The
 * requests of a draw, half for the baselines and half for windows, are drawn from the recording's clean ones. Reads the
 * recordings of {@link RecordedDetectionSoak}.
 */
class ModelSoak {

    private static final int SITES = 64;
    private static final int RANK = 16;
    private static final int FEATURES = 48;
    private static final int WINDOW_ROWS = 512;
    private static final int DRAWS = 4;
    private static final int WIDTH = 128;
    private static final double STRETCH = 0.7;
    private static final List<String> TRIGGERS = DriftJudge.JUDGED_AS_ONE;
    private static final Threshold ONE_IN_TWENTY = new Threshold.FalseAlarms(
            new AlarmBudget.PerWindow(0.05), AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1)));

    /** A site: how its rows come of the recorded ones, what explains them and what is usual. */
    private record Site(Matrix directions, Explainer explainer, Baseline baseline, SiteGeometry geometry) {}

    @Test
    void onePromiseOfSixtyFourSitesIsKeptAndSeesMostOfWhatASiteSees() throws Exception {
        String folder = System.getProperty(RecordedDetectionSoak.FOLDER);
        assumeTrue(folder != null, "no folder of recordings was named");
        List<ActivationBatch> clean = new ArrayList<>(requests(folder, "en_baseline"));
        clean.addAll(requests(folder, "en"));
        List<List<ActivationBatch>> foreign = List.of(requests(folder, "de"), requests(folder, "code"));
        int[] percents = {0, 5, 10, 25};
        int[][] above = new int[percents.length][2];
        int[][] bySite = new int[percents.length][SITES];
        int[] windows = new int[percents.length];
        for (int draw = 0; draw < DRAWS; draw++) {
            List<ActivationBatch> shuffled = new ArrayList<>(clean);
            Collections.shuffle(shuffled, new Random(draw));
            List<ActivationBatch> ofBaseline = shuffled.subList(0, shuffled.size() / 2);
            List<ActivationBatch> rest = shuffled.subList(shuffled.size() / 2, shuffled.size());
            List<Site> sites = IntStream.range(0, SITES)
                    .mapToObj(number -> site(number, ofBaseline))
                    .toList();
            List<DriftJudge> joint = judges(sites, true);
            List<DriftJudge> single = judges(sites, false);
            for (int i = 0; i < percents.length; i++) {
                for (List<ActivationBatch> window : windows(rest, foreign, percents[i], draw)) {
                    List<GapAssessment> measured =
                            sites.stream().map(site -> measured(site, window)).toList();
                    int[] alone = above(single, measured);
                    for (int site : alone) {
                        bySite[i][site]++;
                    }
                    above[i][0] += above(joint, measured).length > 0 ? 1 : 0;
                    above[i][1] += alone.length > 0 ? 1 : 0;
                    windows[i]++;
                }
            }
        }
        System.out.println("foreign_percent,windows,model,any_of_64_single,mean_single_site,best_single_site");
        for (int i = 0; i < percents.length; i++) {
            System.out.printf(
                    Locale.ROOT,
                    "%d,%d,%.3f,%.3f,%.3f,%.3f%n",
                    percents[i],
                    windows[i],
                    (double) above[i][0] / windows[i],
                    (double) above[i][1] / windows[i],
                    Arrays.stream(bySite[i]).sum() / (double) SITES / windows[i],
                    (double) Arrays.stream(bySite[i]).max().orElse(0) / windows[i]);
        }
        assertTrue(above[0][0] < 0.08 * windows[0], "clean windows above: " + above[0][0]);
        assertTrue(above[3][0] >= 0.8 * Arrays.stream(bySite[3]).sum() / SITES, "a quarter foreign");
    }

    private static List<ActivationBatch> requests(String folder, String name) throws Exception {
        return Recordings.requests(Path.of(folder, "activations", name + ".safetensors"));
    }

    private static Site site(int number, List<ActivationBatch> clean) {
        Random random = new Random(1_000 + number);
        int recorded = clean.get(0).activations().columns();
        Matrix rotation = Matrix.zeros(WIDTH, recorded);
        for (int i = 0; i < rotation.values().length; i++) {
            rotation.values()[i] = random.nextGaussian();
        }
        Matrix directions =
                OrthonormalRows.of(rotation, Matrix.zeros(0, recorded), random).transpose();
        for (int j = 0; j < WIDTH; j++) {
            double stretch = Math.exp(STRETCH * random.nextGaussian());
            for (int i = 0; i < recorded; i++) {
                directions.set(i, j, stretch * directions.get(i, j));
            }
        }
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WIDTH);
        clean.forEach(request -> moment.add(seen(request, directions).activations()));
        Matrix leading = SymmetricEigen.of(moment.snapshot().matrix()).vectors().leadingColumns(FEATURES);
        Matrix both = Matrix.zeros(2 * FEATURES, WIDTH);
        for (int feature = 0; feature < FEATURES; feature++) {
            for (int i = 0; i < WIDTH; i++) {
                both.set(feature, i, leading.get(i, feature));
                both.set(FEATURES + feature, i, -leading.get(i, feature));
            }
        }
        Explainer explainer = new Explainer(
                "standard",
                ReluEncoder.of(both, new double[2 * FEATURES]),
                new Decoder(both, new double[WIDTH]),
                Path.of("none"));
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(RANK), List.of(WINDOW_ROWS))
                .keeping(64);
        clean.forEach(request -> builder.add(seen(request, directions)));
        CleanWindowPass windows = builder.secondPass();
        clean.forEach(request -> windows.add(seen(request, directions)));
        Baseline baseline = windows.build();
        return new Site(
                directions,
                explainer,
                baseline,
                SiteGeometry.of(explainer, baseline.moment(), baseline.reconstructionMoment(), RANK));
    }

    private static ActivationBatch seen(ActivationBatch request, Matrix directions) {
        return new ActivationBatch(Kernels.multiply(request.activations(), directions), null, null);
    }

    private static List<DriftJudge> judges(List<Site> sites, boolean together) {
        List<DriftJudge> judges = new ArrayList<>();
        for (int number = 0; number < sites.size(); number++) {
            Baseline baseline = sites.get(number).baseline();
            if (together) {
                List<OtherSite> others = new ArrayList<>();
                for (int other = 0; other < sites.size(); other++) {
                    if (other != number) {
                        others.add(new OtherSite(sites.get(other).baseline().samplesOf(RANK), TRIGGERS));
                    }
                }
                baseline = baseline.judgedWith(RANK, others);
            }
            judges.add(new DriftJudge(baseline, TRIGGERS, ONE_IN_TWENTY, ONE_IN_TWENTY, DriftPolicy.immediate(), 1));
        }
        return judges;
    }

    /** Cuts requests into windows as those of the baseline are, each replaced by a foreign one with some chance. */
    private static List<List<ActivationBatch>> windows(
            List<ActivationBatch> clean, List<List<ActivationBatch>> foreign, int percent, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<List<ActivationBatch>> windows = new ArrayList<>();
        List<ActivationBatch> window = new ArrayList<>();
        int rows = 0;
        for (ActivationBatch request : clean) {
            List<ActivationBatch> kind = foreign.get(windows.size() % foreign.size());
            ActivationBatch next = random.nextInt(100) < percent ? kind.get(random.nextInt(kind.size())) : request;
            window.add(next);
            rows += next.rows();
            if (rows >= WINDOW_ROWS) {
                windows.add(window);
                window = new ArrayList<>();
                rows = 0;
            }
        }
        return windows;
    }

    private static GapAssessment measured(Site site, List<ActivationBatch> window) {
        RecordedWindow requests = new RecordedWindow(site.baseline());
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WIDTH);
        for (ActivationBatch request : window) {
            ActivationBatch own = seen(request, site.directions());
            moment.add(own.activations());
            requests.add(own, site.explainer().reconstruct(own.activations()));
        }
        return requests.addTo(site.geometry().assess(moment.snapshot()));
    }

    /** Returns the sites that are above. */
    private static int[] above(List<DriftJudge> judges, List<GapAssessment> measured) {
        return IntStream.range(0, judges.size())
                .filter(site ->
                        judges.get(site).readings(measured.get(site)).stream().anyMatch(ModelSoak::isAbove))
                .toArray();
    }

    private static boolean isAbove(Reading reading) {
        return Boolean.TRUE.equals(reading.exceeded());
    }
}
