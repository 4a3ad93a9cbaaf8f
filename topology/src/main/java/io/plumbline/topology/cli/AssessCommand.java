package io.plumbline.topology.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.activity.ActivityComparison;
import io.plumbline.attribution.FailingFeatures;
import io.plumbline.calibration.AlarmLaw;
import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.Basis;
import io.plumbline.calibration.DriftJudge;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.DriftState;
import io.plumbline.calibration.DriftVerdict;
import io.plumbline.calibration.Reading;
import io.plumbline.calibration.RecordedWindow;
import io.plumbline.calibration.SampledReconstruction;
import io.plumbline.calibration.Threshold;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.FeatureLink;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.assessment.EnergyWarning;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.assessment.FeatureSettings;
import io.plumbline.topology.assessment.Json;
import io.plumbline.topology.assessment.StatisticReport;
import io.plumbline.topology.assessment.WorstRequest;
import io.plumbline.topology.config.AlarmText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline assess}: every number of one window, from dumps. */
@Command(
        name = "assess",
        mixinStandardHelpOptions = true,
        description = {
            "Measures one window of activations against the explainer and a baseline, in float64, and judges it.",
            "",
            "All dumps together are one window. The requests farthest from the baseline's are named by their place in the dumps, from 0. Rows the baseline was made without are left out here too. A number that does not exist here is null, with the reason.",
            ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline assess --explainer sae/ --baseline baseline.safetensors --activations today.safetensors \\",
            "      --rank 32 --fail-on-drift",
            "By the faithfulness gap alone, above a number:",
            "  plumbline assess ... --threshold 4.0",
            "Which features fail on these rows, the ten worst:",
            "  plumbline assess ... --features 10",
            "With --json, one object and nothing else:",
            "  plumbline assess ... --json | jq .faithfulness_gap"
        })
final class AssessCommand implements Callable<Integer> {

    private static final double DAY_MS = 86_400_000.0;

    @Option(
            names = "--explainer",
            required = true,
            paramLabel = "DIR",
            description = "Folder or file of the explainer; none where dumps bring reconstructions.")
    Path explainer;

    @Mixin
    ExplainerFacts facts;

    @Option(
            names = "--baseline",
            required = true,
            paramLabel = "FILE",
            description = "File written by `plumbline baseline`.")
    Path baseline;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of the window; several are one stream.")
    List<Path> activations;

    @Option(names = "--rank", required = true, paramLabel = "R", description = "Rank of the subspaces compared.")
    int rank;

    @ArgGroup
    @Nullable
    ThresholdOptions thresholds;

    @Option(
            names = "--debounce",
            paramLabel = "'J of N'",
            defaultValue = "2 of 3",
            description =
                    "What the site is watched with, for the promise about false alarms. This window is judged by itself."
                            + " Default: ${DEFAULT-VALUE}.")
    String debounce;

    @Option(
            names = "--window-size",
            paramLabel = "DURATION",
            defaultValue = "60s",
            description =
                    "Length of the site's windows (tumbling), for the rate of false alarms. Default: ${DEFAULT-VALUE}.")
    String windowSize;

    @Option(
            names = "--trigger",
            split = ",",
            paramLabel = "STATISTIC",
            description =
                    "A statistic that decides. May be repeated; several are judged as one. Default: those of a site for which"
                            + " none is configured, and the faithfulness gap alone for a threshold that is a number or a share.")
    List<String> triggers = List.of();

    @Option(
            names = "--site",
            paramLabel = "SITE",
            description = "Name of the site in the answer. Default: the explainer's own hook_name.")
    @Nullable
    String site;

    @Option(names = "--fail-on-drift", description = "Exit with 1 when the verdict is drifted.")
    boolean failOnDrift;

    @Option(
            names = "--features",
            paramLabel = "N",
            description =
                    "List the N features that fail most, those whose codes go with the explainer's error, and the N that are most surely more or less active than on the baseline's rows; on up to 4,096 sampled rows.")
    int features;

    @Option(
            names = "--labels",
            paramLabel = "FILE",
            description = "Labels of features, index to text, as JSON or CSV; for that list.")
    @Nullable
    Path labels;

    @Option(
            names = "--link",
            paramLabel = "ADDRESS",
            description =
                    "Address of a page about each feature, with {feature} in the place of its index; for that list.")
    @Nullable
    String link;

    @Option(
            names = "--false-discovery-rate",
            paramLabel = "SHARE",
            defaultValue = "0.1",
            description =
                    "Of the features listed as more or less active than on the baseline's rows, the share that may be there by"
                            + " chance. Default: ${DEFAULT-VALUE}.")
    double falseDiscoveryRate;

    @Option(
            names = "--active",
            paramLabel = "DIR",
            description =
                    "Folder of the adapted decoder in service: the list then says how far each column has turned.")
    @Nullable
    Path active;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        AlarmLaw law = law();
        Threshold threshold = (thresholds == null ? new ThresholdOptions() : thresholds).threshold(law);
        List<String> deciding = deciding(threshold);
        Explainer trained = Options.explainer(explainer, facts.options(), activations);
        Options.requireRank(rank, trained);
        Baseline normal = Options.baseline(baseline, trained);
        Decoder inService = inService(trained);
        try (ActivationStream stream =
                ActivationStream.open(activations, trained, normal.masking().mask())) {
            SecondMoment moment = moment(stream, trained);
            RecordedWindow requests = new RecordedWindow(normal);
            SecondMomentAccumulator reconstructions = SecondMomentAccumulator.ofDimension(trained.targetWidth());
            double fvu = reconstructionFvu(stream, trained, moment, requests, reconstructions);
            SiteGeometry geometry = SiteGeometry.of(trained, normal.moment(), normal.reconstructionMoment(), rank);
            ActiveSubspace window = geometry.activeSubspace(moment);
            GapAssessment assessment = trained.isGiven()
                    ? requests.addTo(geometry.assess(
                                    moment, window, reconstructions.snapshot().matrix()))
                            .with(Statistic.RECONSTRUCTION_FVU_TRAINED, fvu)
                    : requests.addTo(geometry.assess(moment, window));
            DriftJudge judge = new DriftJudge(normal, deciding, threshold, threshold, DriftPolicy.immediate(), 1);
            DriftVerdict verdict = judge.judge(DriftState.INITIAL, assessment).verdict();
            List<Reading> readings = judge.readings(assessment);
            String trigger = DriftJudge.deciding(DriftState.INITIAL, readings).statistic();
            Answer answer = answer(assessment, fvu).put("triggers", deciding);
            answer.put("trigger", trigger).put("verdict", verdict.label()).put("reason", verdict.reason(trigger));
            if (json) {
                answer.put("statistics", Json.tree(StatisticReport.triggers(readings)));
            }
            putRates(answer, verdict, law);
            if (!normal.masking().rules().isEmpty()) {
                stream.masked().byReason().forEach((reason, rows) -> answer.put("masked_rows_" + reason, rows));
            }
            List<WorstRequest> worst = WorstRequest.of(requests.requests(), trigger);
            if (json) {
                answer.put("worst_requests", Json.tree(worst));
            } else if (!worst.isEmpty()) {
                answer.put("worst_requests", WorstRequest.names(worst));
            }
            String energyWarning = EnergyWarning.of(assessment, geometry);
            if (energyWarning != null) {
                answer.put("energy_warning", energyWarning);
            }
            ListedFeatures listed = features == 0 ? null : listed(trained, normal, stream, inService);
            if (listed != null && json) {
                listed.putInto(answer);
            }
            answer.print(spec.commandLine().getOut(), json);
            if (listed != null && !json) {
                listed.print(spec.commandLine().getOut());
            }
            return failOnDrift && verdict instanceof DriftVerdict.Drifted ? ExitCodes.DRIFT_FOUND : ExitCodes.FINE;
        }
    }

    private List<String> deciding(Threshold threshold) {
        if (triggers.isEmpty()) {
            return DriftJudge.defaultTriggers(threshold.isCalibrated(), List.of());
        }
        for (String trigger : triggers) {
            if (!GapAssessment.statisticNames().contains(trigger)) {
                throw new UsageException("--trigger = %s: expected one of %s"
                        .formatted(trigger, String.join(", ", GapAssessment.statisticNames())));
            }
        }
        if (Set.copyOf(triggers).size() < triggers.size()) {
            throw new UsageException(
                    "--trigger = %s: expected every statistic once".formatted(String.join(", ", triggers)));
        }
        if (threshold instanceof Threshold.Fixed fixed && triggers.size() > 1) {
            throw new UsageException(
                    "--threshold = %s: is in one statistic's own units, but --trigger names %d: expected --false-alarms '1 per 30d'"
                            .formatted(fixed.value(), triggers.size()));
        }
        return triggers;
    }

    private AlarmLaw law() {
        Duration size = Options.duration("--window-size", windowSize);
        if (size.isZero()) {
            throw new UsageException("--window-size = %s: expected more than 0s".formatted(windowSize));
        }
        try {
            return AlarmLaw.tumbling(AlarmText.debounce(debounce), size);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--debounce = %s: %s".formatted(debounce, refused.getMessage()));
        }
    }

    /** What the threshold comes to on clean traffic, where it is one of the clean values. */
    private static void putRates(Answer answer, DriftVerdict verdict, AlarmLaw law) {
        Basis basis = basis(verdict);
        if (basis == null) {
            answer.putUndefined("days_per_false_alarm", "the threshold is not taken from clean windows");
            return;
        }
        Double alarmsPerDay = basis.alarmsPerDay();
        answer.put("false_alarm_rate", basis.windowRate())
                .put(
                        "days_per_false_alarm",
                        alarmsPerDay == null ? days(law, basis) : Double.valueOf(1.0 / alarmsPerDay));
    }

    /** Returns what the rate of a level that was not asked for by alarms comes to with this debounce. */
    private static double days(AlarmLaw law, Basis basis) {
        if (basis.confidence() != null) {
            return law.millisecondsBetween(law.alarmsGiven(basis.windowRate())) / DAY_MS;
        }
        int atOrAbove = (int) Math.round(basis.windowRate() * (basis.cleanWindows() + 1));
        return law.millisecondsBetween(law.alarmsPerWindow(basis.cleanWindows(), Math.max(1, atOrAbove))) / DAY_MS;
    }

    private static @Nullable Basis basis(DriftVerdict verdict) {
        if (verdict instanceof DriftVerdict.Aligned aligned) {
            return aligned.basis();
        }
        return verdict instanceof DriftVerdict.Drifted drifted ? drifted.basis() : null;
    }

    private static SecondMoment moment(ActivationStream stream, Explainer trained) throws IOException {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(trained.targetWidth());
        stream.forEach("moments", request -> moment.add(request.targetRows()));
        return moment.snapshot();
    }

    /**
     * Squared errors over squared distances to the mean. A second pass, because the mean is known only after the first:
     * the shortcut {@code tr M - |mean|^2} loses digits where the mean is most of the energy, as it is at these sites.
     */
    private static double reconstructionFvu(
            ActivationStream stream,
            Explainer trained,
            SecondMoment moment,
            RecordedWindow requests,
            SecondMomentAccumulator reconstructions)
            throws IOException {
        double[] mean = trained.space().isPlain() ? moment.mean() : meanOfTargets(stream, trained);
        double[] sums = new double[2];
        stream.forEach("reconstruction", request -> {
            Matrix reconstruction = trained.reconstruct(request.activations());
            if (trained.isGiven()) {
                reconstructions.add(reconstruction);
            }
            Matrix rows = trained.space().targets(request);
            Matrix reconstructed = trained.space().toTargets(request.activations(), reconstruction);
            requests.add(request, rows, reconstructed);
            for (int i = 0; i < rows.values().length; i++) {
                double error = rows.values()[i] - reconstructed.values()[i];
                double distance = rows.values()[i] - mean[i % mean.length];
                sums[0] += error * error;
                sums[1] += distance * distance;
            }
        });
        return sums[0] / sums[1];
    }

    /** Returns the mean of the targets as they come. */
    private static double[] meanOfTargets(ActivationStream stream, Explainer trained) throws IOException {
        double[] mean = new double[trained.targetWidth()];
        long[] rows = {0};
        stream.forEach("means", request -> {
            Matrix targets = trained.space().targets(request.activations(), request.targetRows());
            for (int i = 0; i < targets.values().length; i++) {
                mean[i % mean.length] += targets.values()[i];
            }
            rows[0] += targets.rows();
        });
        for (int j = 0; j < mean.length; j++) {
            mean[j] /= rows[0];
        }
        return mean;
    }

    private @Nullable Decoder inService(Explainer trained) throws IOException {
        if (features > 0 && trained.isGiven()) {
            throw new UsageException("--features = %d: --explainer none has no features".formatted(features));
        }
        if (features < 0 || (features == 0 && active != null)) {
            throw new UsageException(
                    "--features = %d: expected 1 or more; --active is for that list".formatted(features));
        }
        if (active == null) {
            return null;
        }
        if (!Files.isDirectory(active)) {
            throw new UsageException("--active = %s: no such folder".formatted(active));
        }
        Decoder decoder = Explainer.read(active).decoder();
        if (decoder.features() != trained.decoder().features()
                || decoder.dimension() != trained.decoder().dimension()) {
            throw new UsageException("--active = %s: has %d features x %d, the trained decoder %d x %d"
                    .formatted(
                            active,
                            decoder.features(),
                            decoder.dimension(),
                            trained.decoder().features(),
                            trained.decoder().dimension()));
        }
        return decoder;
    }

    private ListedFeatures listed(
            Explainer trained, Baseline normal, ActivationStream stream, @Nullable Decoder inService)
            throws IOException {
        RowSample sample = RowSample.ofCapacity(FailingFeatures.ROWS);
        stream.forEach("features", request -> SampledReconstruction.offer(request, sample));
        SampleRows window = FailingFeatures.encoded(trained, sample.rows());
        return ListedFeatures.of(
                FailingFeatures.of(trained, normal.rows())
                        .list(window.codes(), window.targets(), window.requests(), inService, features),
                comparison(normal).changes(window.codes(), window.requests(), features),
                names(trained));
    }

    private ActivityComparison comparison(Baseline normal) {
        try {
            return ActivityComparison.of(normal.activity(), falseDiscoveryRate);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(
                    "--false-discovery-rate = %s: expected more than 0 and at most 0.5".formatted(falseDiscoveryRate));
        }
    }

    private FeatureNames names(Explainer trained) {
        try {
            FeatureLink address = link == null ? null : new FeatureLink(link);
            return FeatureNames.read(new FeatureSettings(falseDiscoveryRate, labels, address), trained);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--labels, --link: " + refused.getMessage());
        }
    }

    private Answer answer(GapAssessment assessment, double fvu) throws IOException {
        Answer answer = new Answer();
        String name = site == null ? Options.hookName(explainer) : site;
        if (name == null) {
            answer.putUndefined("site", "no --site, and cfg.json names no hook_name");
        } else {
            answer.put("site", name);
        }
        for (Map.Entry<String, JsonNode> entry : Json.tree(assessment).properties()) {
            String key = entry.getKey();
            if (key.equals(Answer.UNDEFINED)) {
                continue;
            }
            String reason = assessment.undefined().get(key);
            if (reason == null) {
                answer.put(key, entry.getValue());
            } else {
                answer.putUndefined(key, reason);
            }
            if (key.equals(Statistic.GAP_UPPER_BOUND.label())) {
                answer.put("reconstruction_fvu", fvu);
            }
        }
        return answer;
    }
}
