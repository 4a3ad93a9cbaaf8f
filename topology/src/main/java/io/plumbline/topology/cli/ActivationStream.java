package io.plumbline.topology.cli;

import io.plumbline.explainer.DecoderSpace;
import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Amounts;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.NonFiniteRowException;
import io.plumbline.moments.RowMask;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.records.HiddenLayers;
import io.plumbline.records.TargetBlock;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads several dumps as one stream of requests, in the order they were named. */
public final class ActivationStream implements Closeable {

    /** Takes every request in turn. */
    public interface RequestReader {
        void read(ActivationBatch request) throws IOException;
    }

    private record Dump(Path path, ActivationFile file) {}

    private final List<Dump> dumps = new ArrayList<>();
    private RowMask mask = RowMask.NONE;
    private DecoderSpace space = DecoderSpace.PLAIN;
    private boolean given;
    private int features;
    private MaskedRows masked = MaskedRows.NONE;
    private long place;

    private ActivationStream() {}

    /** Opens all of them, so that a missing last file is known before the first is read. */
    public static ActivationStream open(List<Path> paths) throws IOException {
        return open(paths, (HiddenLayers) null);
    }

    /** @param layers which layers hidden states of three dimensions hold; null: they are refused */
    public static ActivationStream open(List<Path> paths, @Nullable HiddenLayers layers) throws IOException {
        return opened(paths, path -> ActivationFile.open(path, layers));
    }

    private interface Opener {
        ActivationFile open(Path path) throws IOException;
    }

    private static ActivationStream opened(List<Path> paths, Opener opener) throws IOException {
        ActivationStream stream = new ActivationStream();
        try {
            for (Path path : paths) {
                if (!Files.exists(path)) {
                    throw new NoSuchFileException(path.toString());
                }
                stream.dumps.add(new Dump(path, opener.open(path)));
            }
        } catch (IOException | RuntimeException broken) {
            stream.close();
            throw broken;
        }
        return stream;
    }

    /**
     * Opens dumps of an explainer's site.
     *
     * @throws UsageException when the rows are not what the explainer reads and writes
     */
    public static ActivationStream open(List<Path> paths, Explainer explainer) throws IOException {
        TargetBlock block = explainer.block();
        ActivationStream stream =
                block == null ? open(paths) : opened(paths, path -> ActivationFile.openBlock(path, block));
        try {
            if (explainer.isGiven()) {
                stream.requireReconstructions(explainer);
            } else {
                stream.requireWidthsOf(explainer);
            }
            stream.given = explainer.isGiven();
            stream.features = explainer.isGiven() && explainer.hasCodes() ? explainer.features() : 0;
            stream.space = explainer.space();
        } catch (UsageException mismatch) {
            stream.close();
            throw mismatch;
        }
        return stream;
    }

    /**
     * Opens as {@link #open(List, Explainer)} does, without the rows that the mask takes out.
     *
     * @throws UsageException when it takes out tokens and a dump does not say which they are
     */
    public static ActivationStream open(List<Path> paths, Explainer explainer, RowMask mask) throws IOException {
        ActivationStream stream = open(paths, explainer);
        try {
            stream.requireTokenIds(mask);
        } catch (UsageException missing) {
            stream.close();
            throw missing;
        }
        stream.mask = mask;
        return stream;
    }

    /** Refuses dumps without token ids where they are masked. */
    public void requireTokenIds(RowMask by) {
        for (Dump dump : dumps) {
            if (by.needsTokenIds() && !dump.file().hasTokenIds()) {
                throw new UsageException(
                        "%s: has no tensor \"token_ids\" [%d], and rows of some token ids are to be left out"
                                .formatted(dump.path(), dump.file().rows()));
            }
        }
    }

    /** Returns which request of all dumps is being read, from 0; requests without a remaining row count too. */
    long place() {
        return place;
    }

    /** Returns the rows left out by the last complete reading. */
    MaskedRows masked() {
        return masked;
    }

    private void requireReconstructions(Explainer explainer) {
        int width = explainer.targetWidth();
        for (Dump dump : dumps) {
            if (explainer.hasCodes() && !dump.file().hasCodes()) {
                throw new UsageException(
                        "%s: with --explainer-option features=%d expected tensors \"code_indices\" and \"code_values\""
                                .formatted(dump.path(), explainer.features()));
            }
            if (!dump.file().hasReconstructions() || dump.file().targetWidth() != width) {
                throw new UsageException(
                        ("%s: without an explainer expected a tensor \"reconstructions\" of %d columns beside what is "
                                        + "reconstructed")
                                .formatted(dump.path(), width));
            }
        }
    }

    private void requireWidthsOf(Explainer explainer) {
        for (Dump dump : dumps) {
            ActivationFile file = dump.file();
            if (file.inputWidth() != explainer.inputWidth()) {
                throw new UsageException("%s: activations have %s, the explainer reads %s"
                        .formatted(
                                dump.path(),
                                Amounts.count(file.inputWidth(), "column"),
                                Amounts.number(explainer.inputWidth())));
            }
            if (explainer.isTranscoder() && !file.hasTargets()) {
                throw new UsageException(
                        "%s: a transcoder needs a tensor \"targets\" of %d columns beside \"activations\""
                                .formatted(dump.path(), explainer.targetWidth()));
            }
            if (!explainer.isTranscoder() && file.hasTargets()) {
                throw new UsageException("%s: has targets, but the explainer is an autoencoder, which reconstructs"
                                .formatted(dump.path())
                        + " its own input; which of the two was meant?");
            }
            if (file.targetWidth() != explainer.targetWidth()) {
                throw new UsageException("%s: targets have %s, the explainer writes %s"
                        .formatted(
                                dump.path(),
                                Amounts.count(file.targetWidth(), "column"),
                                Amounts.number(explainer.targetWidth())));
            }
        }
    }

    public long rows() {
        return dumps.stream().mapToLong(dump -> dump.file().rows()).sum();
    }

    int requests() {
        return dumps.stream().mapToInt(dump -> dump.file().requests()).sum();
    }

    /** Returns all requests with all rows, each read when it is asked for, their targets as they come. */
    List<ActivationBatch> asList() {
        return new AbstractList<>() {
            @Override
            public ActivationBatch get(int request) {
                int left = request;
                int dump = 0;
                while (left >= dumps.get(dump).file().requests()) {
                    left -= dumps.get(dump++).file().requests();
                }
                return dumps.get(dump).file().request(left);
            }

            @Override
            public int size() {
                return requests();
            }
        };
    }

    /**
     * Reads every request that has a row left, its targets as the explainer's decoder should write them, with a bar
     * called {@code task} on a terminal.
     */
    public void forEach(String task, RequestReader reader) throws IOException {
        masked = MaskedRows.NONE;
        place = 0;
        try (Progress progress = Progress.of(task, rows())) {
            for (Dump dump : dumps) {
                for (int i = 0; i < dump.file().requests(); i++) {
                    ActivationBatch request =
                            given ? dump.file().given(i, features) : dump.file().request(i);
                    RowMask.Kept<ActivationBatch> kept = mask.apply(space.of(request));
                    masked = masked.plus(kept.masked());
                    try {
                        if (kept.rows() != null) {
                            reader.read(kept.rows());
                        }
                    } catch (NonFiniteRowException refused) {
                        throw new IllegalArgumentException(
                                "%s, request %d: %s".formatted(dump.path(), i, refused.getMessage()), refused);
                    }
                    place++;
                    progress.advance(request.rows());
                }
            }
        }
    }

    /** Hands over every request as the bytes of one record, with a name that no other request of these dumps has. */
    public void forEachRecord(RecordReader reader) throws IOException {
        Set<String> names = new HashSet<>();
        for (Dump dump : dumps) {
            String name = String.valueOf(dump.path().getFileName());
            for (int place = 2; !names.add(name); place++) {
                name = dump.path().getFileName() + "." + place;
            }
            for (int i = 0; i < dump.file().requests(); i++) {
                int rows = dump.file().request(i).rows();
                reader.read(name + "#" + i, rows, dump.file().requestAsRecord(i));
            }
        }
    }

    /** Takes every request in turn, as bytes. */
    public interface RecordReader {
        void read(String request, int rows, byte[] value) throws IOException;
    }

    @Override
    public void close() throws IOException {
        for (Dump dump : dumps) {
            dump.file().close();
        }
    }
}
