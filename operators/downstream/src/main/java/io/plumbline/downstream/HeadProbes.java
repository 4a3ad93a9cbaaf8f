package io.plumbline.downstream;

import io.plumbline.behaviour.BehaviourProbe;
import io.plumbline.behaviour.DownstreamSettings;
import io.plumbline.behaviour.ProbeProvider;
import io.plumbline.explainer.Explainer;
import org.jspecify.annotations.Nullable;

/** Opens heads for a service. */
public final class HeadProbes implements ProbeProvider {

    @Override
    public BehaviourProbe open(DownstreamSettings settings, Explainer explainer) {
        OnnxHead head;
        try {
            head = OnnxHead.open(
                    settings.head(), new HeadLimits(settings.largestBytes(), settings.threads(), settings.timeout()));
        } catch (HeadException refused) {
            throw new IllegalArgumentException(refused.getMessage(), refused);
        }
        String misfit = misfit(head, settings, explainer);
        if (misfit != null) {
            head.close();
            throw new IllegalArgumentException(misfit);
        }
        return new HeadProbe(explainer, head, head::close, settings, System::nanoTime);
    }

    private static @Nullable String misfit(OnnxHead head, DownstreamSettings settings, Explainer explainer) {
        if (head.readsResidual() != explainer.isTranscoder()) {
            return explainer.isTranscoder()
                    ? "%s reads activations, and the explainer is a transcoder: its head reads targets and residual"
                            .formatted(settings.head())
                    : "%s reads targets and residual, and the explainer is an autoencoder: its head reads activations"
                            .formatted(settings.head());
        }
        return head.width() >= 0 && head.width() != explainer.targetWidth()
                ? "%s reads rows of %d values, the explainer writes %d"
                        .formatted(settings.head(), head.width(), explainer.targetWidth())
                : null;
    }
}
