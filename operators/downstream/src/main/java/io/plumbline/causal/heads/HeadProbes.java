package io.plumbline.causal.heads;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.ProbeProvider;
import io.plumbline.explainer.Explainer;

/** Opens heads for a service. */
public final class HeadProbes implements ProbeProvider {

    @Override
    public BehaviourProbe open(DownstreamSettings settings, Explainer explainer) {
        HeadLimits limits = new HeadLimits(settings.largestBytes(), settings.threads(), settings.timeout());
        OpenHead head;
        try {
            head = OpenHead.open(settings.head(), limits, explainer);
        } catch (HeadException refused) {
            throw new IllegalArgumentException(refused.getMessage(), refused);
        }
        return new HeadProbe(explainer, head, head::close, settings, System::nanoTime);
    }
}
