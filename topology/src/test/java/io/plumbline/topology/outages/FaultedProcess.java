package io.plumbline.topology.outages;

import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.WatchedEncoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.faults.ChildJvm;
import io.plumbline.topology.faults.KillPoint;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs what {@code plumbline run} starts, as a program to be killed: with its sends watched by {@link KillPoint.Sends},
 * which the configuration names, and an encoder that passes the point {@code refit} for every block of rows.
 *
 * <p>Arguments: configuration file, role.
 */
final class FaultedProcess {

    private FaultedProcess() {}

    public static void main(String[] arguments) throws Exception {
        MonitorConfig config = MonitorConfig.load(Path.of(arguments[0]));
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : config.sites().values()) {
            Explainer read = Formats.read(settings.explained().explainer());
            Explainer counted = new Explainer(
                    read.architecture(),
                    new WatchedEncoder(read.encoder(), rows -> KillPoint.passed("refit")),
                    read.decoder(),
                    read.directory());
            sites.put(
                    settings.site(),
                    WatchedSite.of(
                            settings,
                            counted,
                            Baseline.read(settings.explained().baseline())));
        }
        PlumblineRuntime runtime = PlumblineRuntime.start(config, sites, Role.valueOf(arguments[1]));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            runtime.close();
            tell("left");
        }));
        tell("http " + runtime.httpAddress().getPort());
        String failure = runtime.awaitFailure(1, TimeUnit.DAYS);
        tell("failed: " + failure);
        Runtime.getRuntime().halt(3);
    }

    private static void tell(String event) {
        byte[] line = (ChildJvm.EVENT + event + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(line, 0, line.length);
        System.out.flush();
    }
}
