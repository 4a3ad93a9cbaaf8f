package io.plumbline.topology.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** An answer that is whole before its first byte is sent: what fails half-way must not look like what ended. */
public record WebAnswer(int status, String contentType, byte[] body) {

    /** Returns a sentence as plain text. */
    public static WebAnswer text(int status, String sentence) {
        return new WebAnswer(status, "text/plain; charset=utf-8", (sentence + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Sends it. Never waits; the callback hears when it is out. */
    public void send(Response response, Callback callback) {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        response.write(true, ByteBuffer.wrap(body), callback);
    }
}
