package io.plumbline.wire;

import io.plumbline.wire.TensorFileException.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A dict of tensors as {@code torch.save} writes it since torch 1.6: a zip of a pickle, {@code NAME/data.pkl}, and the
 * bytes of each storage, {@code NAME/data/KEY}. Only what a dict of tensors needs is interpreted, see {@link
 * TorchPickle}; nothing is executed.
 *
 * <p>Dicts within dicts are read too: their names are joined by a dot. Not thread-safe.
 */
public final class TorchFile implements TensorFile {

    private static final String PICKLE = "/data.pkl";
    private static final int DEEPEST = 4;
    private static final int MOST_NAMES = 10_000;

    private final ZipArchive archive;
    private final String root;
    private final Map<String, TorchPickle.Stored> tensors = new LinkedHashMap<>();
    private final Map<String, Object> values = new LinkedHashMap<>();

    private TorchFile(ZipArchive archive, String root) {
        this.archive = archive;
        this.root = root;
    }

    /**
     * Opens a file; tensors are read when they are asked for.
     *
     * @throws TensorFileException when it holds anything but a dict of tensors; the message begins with the path
     */
    public static TorchFile open(Path path) throws IOException {
        try {
            return open(ZipArchive.open(path));
        } catch (TensorFileException e) {
            throw new TensorFileException(e.fault(), path + ": " + e.getMessage());
        }
    }

    private static TorchFile open(ZipArchive archive) throws IOException {
        try {
            List<String> pickles = archive.entries().keySet().stream()
                    .filter(name -> name.endsWith(PICKLE) && name.indexOf('/') == name.length() - PICKLE.length())
                    .toList();
            if (pickles.size() != 1) {
                throw new TensorFileException(
                        Fault.BAD_DIRECTORY,
                        "%d entries named NAME/data.pkl: expected one, as torch.save writes it"
                                .formatted(pickles.size()));
            }
            String pickle = pickles.get(0);
            TorchFile file = new TorchFile(archive, pickle.substring(0, pickle.length() - PICKLE.length()));
            file.requireLittleEndian();
            ZipArchive.Entry entry = file.entry(pickle);
            if (entry.bytes() > TorchPickle.LARGEST) {
                throw new TensorFileException(
                        Fault.TOO_LARGE,
                        "a pickle of %d bytes: expected at most %d for a dict of tensors"
                                .formatted(entry.bytes(), TorchPickle.LARGEST));
            }
            file.collect("", TorchPickle.read(archive.content(entry)), 0);
            return file;
        } catch (IOException | RuntimeException broken) {
            archive.close();
            throw broken;
        }
    }

    @Override
    public Set<String> names() {
        return Collections.unmodifiableSet(tensors.keySet());
    }

    /** Returns what stands beside the tensors: text, {@link Long}, {@link Double} or {@link Boolean}, by name. */
    public Map<String, Object> values() {
        return Collections.unmodifiableMap(values);
    }

    @Override
    public Tensor tensor(String name) {
        TorchPickle.Stored stored = tensors.get(name);
        if (stored == null) {
            throw new TensorFileException(
                    Fault.MISSING_TENSOR, "tensor \"%s\" is missing; the file has %s".formatted(name, names()));
        }
        TorchPickle.Storage storage = stored.storage();
        ZipArchive.Entry entry = entry("%s/data/%s".formatted(root, storage.key()));
        ArrayView view = new ArrayView(name, storage.dtype(), stored.offset(), stored.shape(), stored.steps());
        DType dtype = storage.dtype();
        if (dtype != null) {
            if (storage.elements() < 0 || storage.elements() != entry.bytes() / dtype.bytes()) {
                throw new TensorFileException(
                        Fault.SHAPE_AGAINST_BYTES,
                        "tensor \"%s\": a storage of %d elements of %s in %d bytes"
                                .formatted(name, storage.elements(), dtype, entry.bytes()));
            }
            view.requireWithin(storage.elements());
        }
        return view.of(() -> {
            try {
                return archive.pieces(entry, 0);
            } catch (IOException e) {
                throw new UncheckedIOException("tensor \"%s\" cannot be read: %s".formatted(name, e.getMessage()), e);
            }
        });
    }

    @Override
    public void close() throws IOException {
        archive.close();
    }

    private ZipArchive.Entry entry(String name) {
        ZipArchive.Entry entry = archive.entries().get(name);
        if (entry == null) {
            throw new TensorFileException(
                    Fault.BAD_DIRECTORY, "the archive has no entry \"%s\", which its pickle needs".formatted(name));
        }
        return entry;
    }

    private void requireLittleEndian() throws IOException {
        ZipArchive.Entry order = archive.entries().get(root + "/byteorder");
        if (order != null
                && order.bytes() < 16
                && !StandardCharsets.US_ASCII
                        .decode(archive.content(order))
                        .toString()
                        .equals("little")) {
            throw new TensorFileException(
                    Fault.BAD_DIRECTORY, "its byte order is not \"little\": save it on a little-endian machine");
        }
    }

    private void collect(String prefix, TorchPickle.Dict dict, int depth) {
        for (Map.Entry<Object, Object> entry : dict.values().entrySet()) {
            String name = prefix + entry.getKey();
            Object value = entry.getValue();
            if (tensors.size() + values.size() >= MOST_NAMES || depth > DEEPEST) {
                throw new TensorFileException(
                        Fault.BAD_PICKLE,
                        "more than %d names, or dicts more than %d deep".formatted(MOST_NAMES, DEEPEST));
            }
            if (value instanceof TorchPickle.Stored stored) {
                tensors.put(name, stored);
            } else if (value instanceof TorchPickle.Dict inner) {
                collect(name + ".", inner, depth + 1);
            } else if (value instanceof String || value instanceof Number || value instanceof Boolean) {
                values.put(name, value);
            }
        }
    }
}
