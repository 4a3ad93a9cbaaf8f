package io.plumbline.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Makes safetensors blobs by hand, so that they can be wrong. */
final class Blobs {

    private Blobs() {}

    /** A blob of this header, as it stands, and so many zero bytes of data. */
    static byte[] of(String header, int dataBytes) {
        byte[] json = header.getBytes(StandardCharsets.UTF_8);
        return withLength(json.length, json, dataBytes);
    }

    static byte[] withLength(long statedHeaderBytes, byte[] header, int dataBytes) {
        ByteBuffer blob = ByteBuffer.allocate(8 + header.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
        return blob.putLong(statedHeaderBytes).put(header).array();
    }

    static String entry(String name, String dtype, String shape, long begin, long end) {
        return "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
                .formatted(name, dtype, shape, begin, end);
    }

    static String object(String... members) {
        return "{" + String.join(",", members) + "}";
    }
}
