package io.plumbline.topology;

import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Two sites of two tenants, each with a topic of activations of its own; rows as in {@link WatchedFolder}. */
public final class TenantsFolder {

    public static final String ACME = "acme.l1";
    public static final String GLOBEX = "globex.l1";

    private TenantsFolder() {}

    /** Writes explainer and baseline, and reads the configuration. */
    public static MonitorConfig create(Path folder, String bootstrapServers) throws IOException {
        WatchedFolder.create(folder, bootstrapServers, WatchedFolder.WINDOW, "", ACME, GLOBEX);
        Path file = folder.resolve(WatchedFolder.FILE);
        String yaml = Files.readString(file)
                .replace("sites:\n", "topics: {activations: \"activations-{tenant}\"}\nsites:\n")
                .replaceAll("(acme|globex)(\\.l1:\n)( +)", "$1$2$3tenant: $1\n$3");
        Files.writeString(file, yaml);
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, folder);
    }
}
