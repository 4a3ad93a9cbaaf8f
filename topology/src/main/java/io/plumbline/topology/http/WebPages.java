package io.plumbline.topology.http;

import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Serves what {@link MonitorServer} serves besides its own, behind the same TLS and passwords. Called on its threads;
 * read only: GET and HEAD.
 */
public interface WebPages {

    /** Serves no pages. */
    WebPages NONE = new WebPages() {
        @Override
        public boolean has(String path) {
            return false;
        }

        @Override
        public void answer(Request request, Response response, Callback callback) {
            callback.succeeded();
        }
    };

    /** Returns whether this path, decoded, is one of them. */
    boolean has(String path);

    /** Answers and completes the callback, whatever happens: at once, or later on a thread of its own. */
    void answer(Request request, Response response, Callback callback);
}
