package io.plumbline.toy;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;

/**
 * One of the two explainers of the toy network, both ReLU with 1,024 features and trained at severity 0.
 *
 * @param encoder reads h (256) for the autoencoder, x (128) for the transcoder
 * @param decoder writes h (256)
 */
public record ToyExplainer(ReluEncoder encoder, Decoder decoder) {

    /** The autoencoder: reads h, writes h. */
    public static ToyExplainer autoencoder() {
        return read("sae_k1024.safetensors");
    }

    /** The transcoder: reads x, writes h. */
    public static ToyExplainer transcoder() {
        return read("transcoder_k1024.safetensors");
    }

    private static ToyExplainer read(String name) {
        Safetensors file = ToyResources.safetensors(name);
        Matrix encoder = file.tensor("W_enc").toMatrix(); // k x d_in
        Matrix decoder = file.tensor("W_dec").toMatrix(); // d x k, the paper's orientation
        return new ToyExplainer(
                ReluEncoder.of(encoder, file.tensor("b_enc").toDoubles()),
                new Decoder(decoder.transpose(), file.tensor("b_dec").toDoubles()));
    }
}
