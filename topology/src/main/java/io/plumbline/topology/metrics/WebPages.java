package io.plumbline.topology.metrics;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;

/** What {@link MonitorServer} serves besides its own, behind the same TLS and passwords. Called on its threads; read only: GET and HEAD. */
public interface WebPages {

    /** There are none. */
    WebPages NONE = new WebPages() {
        @Override
        public boolean has(String path) {
            return false;
        }

        @Override
        public void answer(HttpExchange exchange) {
            exchange.close();
        }
    };

    /** Whether this path, decoded, is one of them. */
    boolean has(String path);

    /** Answers and closes the exchange, whatever happens: at once, or later on a thread of its own. */
    void answer(HttpExchange exchange) throws IOException;
}
