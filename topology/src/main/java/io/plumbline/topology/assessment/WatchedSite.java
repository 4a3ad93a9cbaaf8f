package io.plumbline.topology.assessment;

import io.plumbline.calibration.Baseline;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.SiteGeometry;
import java.io.IOException;

/**
 * A configured site with everything that does not depend on the window, read and computed once at start.
 *
 * <p><b>Memory:</b> the explainer in float64, the baseline's moment, and three eigenbases.
 */
public record WatchedSite(SiteSettings settings, Explainer explainer, Baseline baseline, SiteGeometry geometry) {

    /**
     * Reads explainer and baseline.
     *
     * @throws IllegalArgumentException when they do not belong together, saying how
     */
    public static WatchedSite read(SiteSettings settings) throws IOException {
        return of(settings, Explainer.read(settings.explainer()), Baseline.read(settings.baseline()));
    }

    /** Puts parts together that were read before. */
    public static WatchedSite of(SiteSettings settings, Explainer explainer, Baseline baseline) {
        String sha256 = explainer.decoder().sha256();
        if (!baseline.explainerSha256().equals(sha256)) {
            throw new IllegalArgumentException(
                    "site %s: the baseline %s was made with the decoder %s, the explainer %s has %s; run `plumbline baseline` with this explainer"
                            .formatted(
                                    settings.site(),
                                    settings.baseline(),
                                    baseline.explainerSha256(),
                                    settings.explainer(),
                                    sha256));
        }
        if (settings.rank() > explainer.targetWidth()) {
            throw new IllegalArgumentException("site %s: rank = %d, but its target space has %d dimensions"
                    .formatted(settings.site(), settings.rank(), explainer.targetWidth()));
        }
        SiteGeometry geometry = SiteGeometry.of(
                explainer.decoder(), baseline.moment(), baseline.reconstructionMoment(), settings.rank());
        return new WatchedSite(settings, explainer, baseline, geometry);
    }

    public String site() {
        return settings.site();
    }
}
