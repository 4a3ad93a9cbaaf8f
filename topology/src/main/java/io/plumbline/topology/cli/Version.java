package io.plumbline.topology.cli;

import io.plumbline.topology.config.ProgramVersion;
import picocli.CommandLine.IVersionProvider;

/** Returns the version in the manifest of the jar, and the Java it runs on. */
public final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        return new String[] {"plumbline %s (Java %s)".formatted(ProgramVersion.number(), Runtime.version())};
    }
}
