package io.plumbline.topology.reload;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.probes.ProbeFile;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.ReadConfig;
import io.plumbline.topology.emission.ApprovedBaseline;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Hashes of what a configuration says of its sites, and of the files it names but explainers, which no process reads
 * anew.
 *
 * @param sha256 of all of them
 * @param bySite of each watched site, with what decides its thresholds at the sites it is judged as one with
 * @param baselines of the baseline of each watched site
 */
record Fingerprints(String sha256, Map<String, String> bySite, Map<String, String> baselines) {

    private static final JsonMapper SORTED = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    /** Returns the files of a configuration that a running process reads anew, approvals where they are asked for. */
    static List<Path> files(MonitorConfig config) {
        return config.sites().values().stream()
                .flatMap(site -> Stream.concat(files(site).stream(), approval(config, site)))
                .distinct()
                .toList();
    }

    /** Returns the file without which a baseline is refused; no hash has it, for it changes nothing that is judged. */
    private static Stream<Path> approval(MonitorConfig config, SiteSettings site) {
        return config.signing().baselines()
                ? Stream.of(ApprovedBaseline.approval(site.explained().baseline()))
                : Stream.empty();
    }

    private static List<Path> files(SiteSettings site) {
        List<Path> files = new ArrayList<>();
        files.add(site.explained().baseline());
        Path labels = site.features().labels();
        if (labels != null) {
            files.add(labels);
        }
        site.watch().probes().stream().map(ProbeFile::file).forEach(files::add);
        return files;
    }

    static Fingerprints of(ReadConfig read) throws IOException {
        MonitorConfig config = read.config();
        JsonNode sites = read.effective().path("sites");
        Map<Path, String> hashes = new LinkedHashMap<>();
        Map<String, String> own = new TreeMap<>();
        Map<String, String> baselines = new TreeMap<>();
        for (SiteSettings site : config.sites().values()) {
            StringBuilder said = new StringBuilder(text(sites.path(site.id().group())));
            for (Path file : files(site)) {
                String hash = hashes.get(file);
                if (hash == null) {
                    // The check names a missing file, with everything else that is wrong.
                    hash = Files.isRegularFile(file) ? Sha256.of(file) : "";
                    hashes.put(file, hash);
                }
                said.append('\n').append(hash);
            }
            own.put(site.site(), Sha256.of(said.toString()));
            baselines.put(site.site(), hashes.getOrDefault(site.explained().baseline(), ""));
        }
        Map<String, String> together = new TreeMap<>(own);
        config.models().forEach((name, model) -> {
            StringBuilder all =
                    new StringBuilder(text(read.effective().path("models").path(name)));
            for (String site : model.sites()) {
                all.append('\n')
                        .append(baselines.get(site))
                        .append(text(sites.path(group(config, site)).path("trigger")));
            }
            model.sites().forEach(site -> together.put(site, Sha256.of(all + own.get(site))));
        });
        return new Fingerprints(Sha256.of(together.toString()), together, baselines);
    }

    private static String group(MonitorConfig config, String site) {
        SiteSettings settings = config.sites().get(site);
        return settings == null ? site : settings.id().group();
    }

    /** Returns whether a site is as it is in another configuration. */
    boolean isSame(String site, Fingerprints other) {
        return isEqual(bySite.get(site), other.bySite.get(site));
    }

    /** Returns whether a site has the baseline that it has in another configuration. */
    boolean hasSameBaseline(String site, Fingerprints other) {
        return isEqual(baselines.get(site), other.baselines.get(site));
    }

    private static boolean isEqual(@Nullable String one, @Nullable String other) {
        return one != null && one.equals(other);
    }

    private static String text(JsonNode node) {
        try {
            return SORTED.writeValueAsString(SORTED.treeToValue(node, Object.class));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a tree cannot be written as JSON", impossible);
        }
    }
}
