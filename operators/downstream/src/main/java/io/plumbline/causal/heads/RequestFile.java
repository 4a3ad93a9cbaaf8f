package io.plumbline.causal.heads;

import io.plumbline.explainer.Explainer;
import io.plumbline.records.ActivationBatchException;
import io.plumbline.records.ActivationFile;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.Tensor;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A dump of whole requests: an {@link ActivationFile}, with the tensor {@code residual} [n, d] beside the targets of a
 * transcoder. The files are mapped; a request touches only its own rows.
 */
public final class RequestFile implements SiteStudy.Requests, Closeable {

    private final ActivationFile activations;
    private final Safetensors file;
    private final @Nullable Tensor residual;
    private final int[] offsets;

    private RequestFile(ActivationFile activations, Safetensors file, @Nullable Tensor residual) {
        this.activations = activations;
        this.file = file;
        this.residual = residual;
        offsets = new int[activations.requests() + 1];
        for (int i = 0; i < activations.requests(); i++) {
            offsets[i + 1] = offsets[i] + activations.request(i).rows();
        }
    }

    /**
     * Opens a dump of an explainer's site to read its rows. No head is run, so a transcoder's residual stream may be
     * missing.
     *
     * @throws ActivationBatchException when its widths are not the explainer's, or targets are missing or one too many
     */
    public static RequestFile openRows(Path path, Explainer explainer) throws IOException {
        return open(path, explainer, false);
    }

    /**
     * Opens a dump of an explainer's site.
     *
     * @throws ActivationBatchException when its widths are not the explainer's, targets or the residual stream are
     *     missing, or there is one too many
     */
    public static RequestFile open(Path path, Explainer explainer) throws IOException {
        return open(path, explainer, true);
    }

    private static RequestFile open(Path path, Explainer explainer, boolean forHead) throws IOException {
        ActivationFile activations = ActivationFile.open(path);
        try {
            requireWidths(path, activations, explainer);
            Safetensors file = Safetensors.open(path);
            try {
                return new RequestFile(
                        activations, file, forHead ? residual(path, file, activations, explainer) : null);
            } catch (RuntimeException refused) {
                file.close();
                throw refused;
            }
        } catch (IOException | RuntimeException refused) {
            activations.close();
            throw refused;
        }
    }

    private static void requireWidths(Path path, ActivationFile file, Explainer explainer) {
        if (file.inputWidth() != explainer.inputWidth() || file.targetWidth() != explainer.targetWidth()) {
            throw new ActivationBatchException(
                    "%s: rows of %d and targets of %d values, the explainer reads %d and writes %d"
                            .formatted(
                                    path,
                                    file.inputWidth(),
                                    file.targetWidth(),
                                    explainer.inputWidth(),
                                    explainer.targetWidth()));
        }
        if (file.hasTargets() != explainer.isTranscoder()) {
            throw new ActivationBatchException(
                    explainer.isTranscoder()
                            ? "%s: a transcoder needs a tensor \"targets\" of %d columns beside \"activations\""
                                    .formatted(path, explainer.targetWidth())
                            : "%s: has targets, and the explainer is an autoencoder".formatted(path));
        }
    }

    private static @Nullable Tensor residual(
            Path path, Safetensors file, ActivationFile activations, Explainer explainer) {
        if (!explainer.isTranscoder()) {
            return null;
        }
        if (!file.contains(OnnxHead.RESIDUAL)) {
            throw new ActivationBatchException(("%s: a transcoder's head needs a tensor \"residual\" [%d, %d], "
                            + "the residual stream that the targets are added to")
                    .formatted(path, activations.rows(), explainer.targetWidth()));
        }
        Tensor residual = file.tensor(OnnxHead.RESIDUAL);
        if (residual.shape().size() != 2
                || residual.size(0) != activations.rows()
                || residual.size(1) != explainer.targetWidth()) {
            throw new ActivationBatchException(
                    "%s: %s, expected [%d, %d]".formatted(path, residual, activations.rows(), explainer.targetWidth()));
        }
        return residual;
    }

    @Override
    public int count() {
        return activations.requests();
    }

    public int rows() {
        return activations.rows();
    }

    public boolean hasTokenIds() {
        return activations.hasTokenIds();
    }

    @Override
    public RequestRows request(int index) {
        return new RequestRows(
                activations.request(index),
                residual == null ? null : residual.rows(offsets[index], offsets[index + 1]));
    }

    @Override
    public void close() throws IOException {
        activations.close();
        file.close();
    }
}
