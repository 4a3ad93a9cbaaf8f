package io.plumbline.topology.console;

import org.jspecify.annotations.Nullable;

/** Lists what the console answers beside the page; docs/reference/openapi.json is written from it. */
enum Route {
    SITES(
            "/api/sites",
            ConsoleViews.Overview.class,
            "all sites and models, the newest window of each, and how windows are cut"),
    SITE(
            "/api/sites/{site}",
            ConsoleViews.Summary.class,
            "one site: its mode, its newest window, its decoder in service"),
    WINDOWS("/api/sites/{site}/windows", ConsoleViews.Windows.class, "its windows, oldest first"),
    WINDOWS_CSV("/api/sites/{site}/windows.csv", "text/csv", "the same windows, a column for each key with one value"),
    REPORTS("/api/sites/{site}/reports", ConsoleViews.Reports.class, "the whole reports of its newest windows"),
    DECODERS("/api/sites/{site}/decoders", ConsoleViews.Decoders.class, "its decoders, and what the adapter did"),
    BASELINES(
            "/api/sites/{site}/baselines",
            ConsoleViews.Baselines.class,
            "the baselines it was judged by, the newest compared with the one before, and the one proposed"),
    READY("/api/ready", ConsoleViews.Ready.class, "what /readyz complains of"),
    EVENTS(
            "/api/events",
            "text/event-stream",
            "what changes, as server-sent events: window, model, site, letters, reset");

    private final String path;
    private final String contentType;
    private final @Nullable Class<?> view;
    private final String summary;

    Route(String path, Class<?> view, String summary) {
        this.path = path;
        this.view = view;
        this.summary = summary;
        contentType = "application/json";
    }

    Route(String path, String contentType, String summary) {
        this.path = path;
        this.contentType = contentType;
        this.summary = summary;
        view = null;
    }

    /** Returns the route of a path as it was asked for, with its percent signs; null where there is none. */
    static @Nullable Route of(String asked) {
        String[] words = asked.split("/", -1);
        for (Route route : values()) {
            if (route.fits(words)) {
                return route;
            }
        }
        return null;
    }

    private boolean fits(String[] words) {
        String[] own = path.split("/", -1);
        boolean fits = own.length == words.length;
        for (int i = 0; fits && i < own.length; i++) {
            fits = own[i].equals(words[i]) || own[i].equals("{site}");
        }
        return fits;
    }

    /** Returns the path, with {@code {site}} in the place of a site's percent-encoded name. */
    String path() {
        return path;
    }

    /** Returns the type of the answer, without its character set. */
    String contentType() {
        return contentType;
    }

    /** Returns the record that is written as JSON; null where the answer is no JSON. */
    @Nullable
    Class<?> view() {
        return view;
    }

    String summary() {
        return summary;
    }
}
