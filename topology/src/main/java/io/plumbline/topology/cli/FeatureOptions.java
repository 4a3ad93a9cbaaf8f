package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.SampledReconstruction;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.FeatureLink;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.features.ActivityComparison;
import io.plumbline.features.FailingFeatures;
import io.plumbline.moments.RowSample;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.assessment.FeatureSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which features of a window to list, and by which names. */
final class FeatureOptions {

    @Option(
            names = "--features",
            paramLabel = "N",
            description = "List the N features that fail most, and the N that are most surely more or less active than"
                    + " on the baseline's rows; on up to 4,096 sampled rows.")
    int features;

    @Option(names = "--labels", paramLabel = "FILE", description = "Labels of features, index to text, as JSON or CSV.")
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
            description = "Share of the features listed as more or less active that may be there by chance. Default:"
                    + " ${DEFAULT-VALUE}.")
    double falseDiscoveryRate;

    @Option(
            names = "--active",
            paramLabel = "DIR",
            description =
                    "Folder of the adapted decoder in service: the list then says how far each column has turned.")
    @Nullable
    Path active;

    /**
     * Returns the adapted decoder that is named, or null.
     *
     * @throws UsageException when it cannot be that of this explainer, or nothing is to be listed
     */
    @Nullable
    Decoder inService(Explainer trained) throws IOException {
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
        Decoder decoder = Formats.read(active).decoder();
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

    /** Returns the features of a window, for which it is read once more; null where none are asked for. */
    @Nullable
    ListedFeatures listed(Explainer trained, Baseline normal, ActivationStream stream, @Nullable Decoder inService)
            throws IOException {
        if (features == 0) {
            return null;
        }
        RowSample sample = RowSample.ofCapacity(FailingFeatures.ROWS);
        stream.forEach("features", request -> SampledReconstruction.offer(request, sample));
        SampleRows window = FailingFeatures.encoded(trained, sample.rows());
        return ListedFeatures.of(
                FailingFeatures.of(trained, normal.rows())
                        .list(window.codes(), window.targets(), window.requests(), inService, features),
                comparison(normal).changes(window.codes(), window.requests(), features),
                names(trained));
    }

    /** Returns the comparison of how often features are active, with the rate asked for. */
    ActivityComparison comparison(Baseline normal) {
        try {
            return ActivityComparison.of(normal.activity(), falseDiscoveryRate);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(
                    "--false-discovery-rate = %s: expected more than 0 and at most 0.5".formatted(falseDiscoveryRate));
        }
    }

    /** Returns what features are called by the files asked for. */
    FeatureNames names(Explainer trained) {
        try {
            FeatureLink address = link == null ? null : new FeatureLink(link);
            return FeatureNames.read(new FeatureSettings(falseDiscoveryRate, labels, address), trained);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--labels, --link: " + refused.getMessage());
        }
    }
}
