package io.plumbline.topology.runtime;

import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.HeadLocation;
import io.plumbline.causal.ProbeProvider;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the rest of the model of every site that names it. What runs it, ONNX Runtime with 43 MB of native code, lies
 * on a class path of its own, which is read only where a site asks for it.
 */
final class BehaviourProbes implements AutoCloseable {

    /** The property with jars and folders of jars, separated as on a class path; the launcher sets it. */
    static final String CLASS_PATH_PROPERTY = "plumbline.downstream";

    private static final String MISSING =
            "downstream: what runs a head is not there; it lies in the folder downstream/ of the distribution, "
                    + "which ./plumbline"
                    + " names by -D" + CLASS_PATH_PROPERTY;

    private static final Logger LOG = LoggerFactory.getLogger(BehaviourProbes.class);

    private final Map<String, BehaviourProbe> bySite = new TreeMap<>();
    private @Nullable URLClassLoader loader;

    private BehaviourProbes() {}

    /**
     * Opens heads.
     *
     * @throws IllegalArgumentException when one cannot be loaded, or what loads it is not there; the message names the
     *     site
     */
    static BehaviourProbes open(Map<String, WatchedSite> sites) {
        BehaviourProbes probes = new BehaviourProbes();
        try {
            sites.forEach((name, site) -> {
                DownstreamSettings downstream = site.settings().downstream();
                if (downstream != null) {
                    probes.bySite.put(name, probes.open(name, site, downstream));
                    WatchedSite candidate = site.candidate();
                    if (candidate != null) {
                        probes.bySite.put(candidate.probe(), probes.open(name, candidate, downstream));
                    }
                }
            });
            return probes;
        } catch (RuntimeException refused) {
            probes.close();
            throw refused;
        }
    }

    private BehaviourProbe open(String name, WatchedSite site, DownstreamSettings downstream) {
        ProbeProvider provider = ServiceLoader.load(ProbeProvider.class, loader())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("site %s: %s".formatted(name, MISSING)));
        try {
            return provider.open(downstream, site.explainer());
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException(
                    "site %s: downstream.%s: %s"
                            .formatted(
                                    name,
                                    downstream.head() instanceof HeadLocation.InFile ? "head" : "worker",
                                    refused.getMessage()),
                    refused);
        }
    }

    private ClassLoader loader() {
        URLClassLoader known = loader;
        if (known == null) {
            known = new URLClassLoader(
                    "downstream",
                    jars(System.getProperty(CLASS_PATH_PROPERTY, "")),
                    BehaviourProbes.class.getClassLoader());
            loader = known;
        }
        return known;
    }

    private static URL[] jars(String classPath) {
        List<URL> urls = new ArrayList<>();
        try {
            for (String entry : classPath.split(java.io.File.pathSeparator, -1)) {
                Path path = Path.of(entry);
                if (!entry.isBlank() && Files.isDirectory(path)) {
                    try (DirectoryStream<Path> jars = Files.newDirectoryStream(path, "*.jar")) {
                        for (Path jar : jars) {
                            urls.add(url(jar));
                        }
                    }
                } else if (!entry.isBlank() && Files.exists(path)) {
                    urls.add(url(path));
                }
            }
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(
                    "%s = %s: %s".formatted(CLASS_PATH_PROPERTY, classPath, unreadable.getMessage()), unreadable);
        }
        return urls.toArray(new URL[0]);
    }

    private static URL url(Path jar) throws MalformedURLException {
        return jar.toUri().toURL();
    }

    /** Returns them by {@link WatchedSite#probe}. */
    Map<String, BehaviourProbe> bySite() {
        return Map.copyOf(bySite);
    }

    @Override
    public void close() {
        bySite.values().forEach(BehaviourProbe::close);
        URLClassLoader known = loader;
        if (known != null) {
            try {
                known.close();
            } catch (IOException unreadable) {
                LOG.warn(
                        "the jars of what runs a head could not be closed: reason={}",
                        Printable.value(unreadable.getMessage()));
            }
        }
    }
}
