package io.plumbline.topology.config;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.UsualRank;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Threshold;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.adaptation.AdaptationSettings;
import io.plumbline.topology.assessment.FeatureNames;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.emission.DecoderEmitter;
import io.plumbline.wire.DType;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Holds what a site asks of its explainer against what the explainer is. */
final class ExplainerCheck {

    private ExplainerCheck() {}

    /** Adds what stands against watching the site with this explainer, and adapting it where that is asked for. */
    static void check(
            SiteSettings settings,
            @Nullable AdaptationSettings adaptation,
            Explainer explainer,
            int largestWidth,
            List<String> problems) {
        int width = Math.max(explainer.inputWidth(), explainer.targetWidth());
        if (width > largestWidth) {
            problems.add("explainer: %d columns, limits.width allows %d".formatted(width, largestWidth));
        }
        int sampled = sampledValues(explainer);
        if (sampled > RowSample.MOST_VALUES) {
            problems.add(
                    "explainer: a sampled row has %d values, of activations and targets, and a record holds at most %d"
                            .formatted(sampled, RowSample.MOST_VALUES));
        }
        checkRanks(settings, adaptation, explainer, problems);
        checkNames(settings, explainer, problems);
        checkWatched(settings, explainer, problems);
        String unwatched = WatchedSite.unwatched(settings, explainer);
        if (unwatched != null) {
            problems.add("explainer: " + unwatched);
        }
        if (adaptation != null) {
            checkSize(adaptation, explainer.decoder(), problems);
        }
    }

    /** Returns how many values a sampled row has; without an explainer each target has its error behind it. */
    private static int sampledValues(Explainer explainer) {
        int input = explainer.inputWidth();
        int target = explainer.targetWidth();
        if (explainer.isGiven()) {
            return input + target + (explainer.hasCodes() ? 2 * target : 0);
        }
        return explainer.isTranscoder() ? input + target : input;
    }

    private static void checkRanks(
            SiteSettings settings,
            @Nullable AdaptationSettings adaptation,
            Explainer explainer,
            List<String> problems) {
        SiteSettings.Explained explained = settings.explained();
        int width = explainer.targetWidth();
        if (explained.rank() >= width) {
            problems.add(
                    ("rank = %d: expected less than %d, the width the explainer writes: the gap of whole spaces is 0; "
                                    + "%d is usual")
                            .formatted(explained.rank(), width, UsualRank.of(width)));
            return;
        }
        double largest = Math.sqrt(2.0 * Math.min(explained.rank(), width - explained.rank()));
        if (settings.alarms().threshold() instanceof Threshold.Fixed fixed
                && settings.alarms().triggers().stream().anyMatch(DriftJudge::isGap)
                && fixed.value() >= largest) {
            problems.add("threshold = %s: expected less than %.4g, the largest gap of rank %d in %d dimensions"
                    .formatted(fixed.value(), largest, explained.rank(), width));
        }
        if (adaptation != null
                && adaptation.profile() instanceof AdaptationProfile.Paper paper
                && paper.settings().rank() > width) {
            problems.add("adaptation.rank = %d: expected at most %d, the width the explainer writes"
                    .formatted(paper.settings().rank(), width));
        }
    }

    /**
     * Refuses weights that are too large to publish: those of an adaptation, and of the trained decoder when it
     * returns.
     */
    static void checkSize(AdaptationSettings adaptation, Decoder trained, List<String> problems) {
        for (DType dtype : adaptation.types(trained)) {
            String refusal = DecoderEmitter.refusal(trained.features(), trained.dimension(), dtype);
            if (refusal != null) {
                problems.add("adaptation.dtype = %s: %s".formatted(adaptation.dtype(), refusal));
            }
        }
    }

    private static void checkNames(SiteSettings settings, Explainer explainer, List<String> problems) {
        try {
            FeatureNames.read(settings.features(), explainer);
        } catch (IllegalArgumentException refused) {
            problems.add(String.valueOf(refused.getMessage()));
        }
    }

    private static void checkWatched(SiteSettings settings, Explainer explainer, List<String> problems) {
        try {
            settings.watch().read(explainer);
        } catch (IllegalArgumentException | UncheckedIOException refused) {
            problems.add(String.valueOf(refused.getMessage()));
        }
    }
}
