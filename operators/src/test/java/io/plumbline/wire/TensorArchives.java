package io.plumbline.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Makes archives of tensors for tests. */
public final class TensorArchives {

    private TensorArchives() {}

    public static byte[] zip(Map<String, byte[]> entries, boolean deflated) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Map.Entry<String, byte[]> named : entries.entrySet()) {
                ZipEntry entry = new ZipEntry(named.getKey());
                if (!deflated) {
                    CRC32 crc = new CRC32();
                    crc.update(named.getValue());
                    entry.setMethod(ZipEntry.STORED);
                    entry.setSize(named.getValue().length);
                    entry.setCrc(crc.getValue());
                }
                zip.putNextEntry(entry);
                zip.write(named.getValue());
                zip.closeEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** A {@code .npy} file of floats. */
    public static byte[] npy(String header, float... values) {
        byte[] text = header.getBytes(StandardCharsets.US_ASCII);
        ByteBuffer bytes = ByteBuffer.allocate(10 + text.length + 4 * values.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .putShort((short) text.length)
                .put(text);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return bytes.array();
    }

    public static byte[] torch(byte[] pickle, float... storage) {
        Map<String, byte[]> entries = new LinkedHashMap<>();
        entries.put("model/data.pkl", pickle);
        entries.put("model/byteorder", "little".getBytes(StandardCharsets.US_ASCII));
        ByteBuffer values = ByteBuffer.allocate(4 * storage.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : storage) {
            values.putFloat(value);
        }
        entries.put("model/data/0", values.array());
        return zip(entries, false);
    }

    static Path write(Path folder, String name, byte[] bytes) {
        try {
            return Files.write(folder.resolve(name), bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the pickles that tests need, opcode by opcode. */
    public static final class Pickle {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        public Pickle() {
            op(0x80, 2);
        }

        public Pickle op(int... opcodes) {
            for (int opcode : opcodes) {
                bytes.write(opcode);
            }
            return this;
        }

        public Pickle text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            op('X', utf8.length, 0, 0, 0);
            bytes.writeBytes(utf8);
            return this;
        }

        public Pickle global(String module, String name) {
            op('c');
            bytes.writeBytes((module + "\n" + name + "\n").getBytes(StandardCharsets.US_ASCII));
            return this;
        }

        /** A tensor of storage 0, with all numbers below 256. */
        public Pickle tensor(int elements, int offset, int[] shape, int[] steps) {
            global("torch._utils", "_rebuild_tensor_v2")
                    .op('(', '(')
                    .text("storage")
                    .global("torch", "FloatStorage");
            text("0").text("cpu").op('K', elements, 't', 'Q', 'K', offset);
            tuple(shape).tuple(steps);
            return op(0x89).global("collections", "OrderedDict").op(')', 'R', 't', 'R');
        }

        private Pickle tuple(int... numbers) {
            op('(');
            for (int number : numbers) {
                op('K', number);
            }
            return op('t');
        }

        public byte[] bytes() {
            return bytes.toByteArray();
        }
    }
}
