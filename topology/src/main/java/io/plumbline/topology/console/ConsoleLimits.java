package io.plumbline.topology.console;

/**
 * Limits how much the console remembers. A window takes about 600 bytes here, so all of them stay under some 60 MB; a
 * site's newest report, with its features and spectra, about 20 KB.
 *
 * @param windows of each site
 * @param modelWindows of each model: every answer of {@code /api/sites} has all of them, with a value a site
 * @param adaptations reports of the adapter for each site
 */
public record ConsoleLimits(int windows, int modelWindows, int adaptations) {

    /** A week of windows of a minute: each is a column of the map. */
    private static final int FILE_MODEL_WINDOWS = 10_080;

    /** Keeps everything of a site, for a file. */
    static final ConsoleLimits NONE = new ConsoleLimits(Integer.MAX_VALUE, FILE_MODEL_WINDOWS, Integer.MAX_VALUE);

    private static final int WINDOWS = 1_000;
    private static final int MODEL_WINDOWS = 180;
    private static final int ADAPTATIONS = 100;
    private static final int WINDOWS_OF_ALL_SITES = 100_000;
    private static final int ADAPTATIONS_OF_ALL_SITES = 10_000;

    /** The most browsers that may follow at a time; each holds a thread. */
    static final int CLIENTS = 32;

    /** The number of events kept for a browser that comes back. */
    static final int EVENTS = 1_024;

    /** Returns limits that are lower for each site where there are many. */
    static ConsoleLimits of(int sites) {
        int some = Math.max(1, sites);
        return new ConsoleLimits(
                Math.min(WINDOWS, WINDOWS_OF_ALL_SITES / some),
                MODEL_WINDOWS,
                Math.min(ADAPTATIONS, ADAPTATIONS_OF_ALL_SITES / some));
    }
}
