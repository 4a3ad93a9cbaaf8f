package io.plumbline.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Says what a file is that is not what it was taken for, by its first bytes: a download that failed, a pointer in the
 * place of the content, an archive, or tensors in another container.
 */
final class FileKind {

    private static final int LOOKED_AT = 256;
    private static final int PICKLE = 0x80;

    private FileKind() {}

    /**
     * Returns a sentence of what it is and what to call; empty where the bytes say nothing. The channel's position does
     * not move.
     */
    static String of(FileChannel file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(file.size(), LOOKED_AT));
        while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {
            // Until all of them are there, or the file became shorter.
        }
        return of(bytes.array());
    }

    private static String of(byte[] first) {
        String text = new String(first, StandardCharsets.ISO_8859_1);
        String lower = text.strip().toLowerCase(Locale.ROOT);
        if (text.startsWith("\0\0\0\0{", 4)) {
            return ""; // safetensors with a header of less than 4 GiB, whatever is wrong with it
        }
        if (text.startsWith("version https://git-lfs")) {
            return "a pointer of Git LFS, not the file itself; fetch it with `git lfs pull`";
        }
        if (lower.startsWith("<!doctype") || lower.startsWith("<html") || lower.startsWith("<?xml")) {
            return "a web page: the download failed; open it to see why, and download the file again";
        }
        if (text.startsWith("PK\3\4")) {
            return text.contains(".npy")
                    ? "a zip archive of numpy arrays (.npz); "
                            + "save them with safetensors.numpy.save_file(dict(numpy.load(FILE)), OUT)"
                    : text.contains("/data.pkl")
                            ? "what torch.save writes (a zip archive of a pickle); "
                                    + "save the tensors with safetensors.torch.save_file(torch.load(FILE, "
                                    + "weights_only=True), OUT)"
                            : "a zip archive; unpack it and give the file inside";
        }
        if (first.length > 1 && (first[0] & 0xFF) == PICKLE && first[1] >= 2 && first[1] <= 5) {
            return "a bare pickle, or what torch before 1.6 saved; load it with torch.load(FILE, "
                    + "weights_only=True) and save it again with torch.save, "
                    + "or its tensors with safetensors.torch.save_file";
        }
        if (text.startsWith("\u0093NUMPY")) {
            return "one numpy array (.npy); save it with safetensors.numpy.save_file({NAME: numpy.load(FILE)}, OUT)";
        }
        if (text.startsWith("\u001f\u008b") || text.startsWith("\u00fd7zXZ") || text.startsWith("(\u00b5/\u00fd")) {
            return "packed with gzip, xz or zstd; unpack it first, for instance with `gunzip FILE`";
        }
        if (text.startsWith("\u0089HDF")) {
            return "an HDF5 file; save its tensors with safetensors.numpy.save_file";
        }
        return lower.startsWith("{") || lower.startsWith("[")
                ? "a file of JSON, not of tensors; give the one with the tensors"
                : "";
    }
}
