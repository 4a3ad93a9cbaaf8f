package io.plumbline.toy;

import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The files that lie beside these classes. */
final class ToyResources {

    private ToyResources() {}

    static Safetensors safetensors(String name) {
        return Safetensors.parse(bytes(name));
    }

    static byte[] bytes(String name) {
        try (InputStream stream = ToyResources.class.getResourceAsStream(name)) {
            if (stream == null) {
                throw new IllegalStateException("the program was packed without its file io/plumbline/toy/" + name);
            }
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("io/plumbline/toy/" + name, e);
        }
    }
}
