package io.plumbline.topology.config;

/** Reads the version in the manifest of the jar. */
public final class ProgramVersion {

    private ProgramVersion() {}

    /** Returns the version; {@code unpackaged} where the classes do not come from a jar. */
    public static String number() {
        String version = ProgramVersion.class.getPackage().getImplementationVersion();
        return version == null ? "unpackaged" : version;
    }
}
