package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.util.Map;

/**
 * Crosscoders and cross-layer transcoders of OpenMOSS' library: {@code config.json} and {@code
 * sae_weights.safetensors}, as its autoencoders; {@code sae_type} says which it is.
 */
final class OpenMossBlocksFormat extends BlocksFormat {

    static final String NAME = "OpenMOSS crosscoder or CLT";

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "config.json with sae_type crosscoder or clt, and sae_weights.safetensors",
                "OpenMOSS' llamascopium",
                "crosscoder, jumprelu_crosscoder, cross_layer_transcoder, jumprelu_cross_layer_transcoder; with topk"
                        + " (watched, not refitted)",
                "CLT: the same; crosscoder: SAELens, a transcoder in a folder for each layer",
                "target, the layer that is written into: each is a block of its own",
                "selection among the features of several layers or rows; normalisation by token or batch");
    }

    @Override
    public boolean recognises(ExplainerFiles files) throws IOException {
        if (!files.has(OpenMossFormat.CONFIG_FILE, OpenMossFormat.WEIGHTS_FILE)
                || files.names().contains(SaeLensConfig.FILE)) {
            return false;
        }
        String type = ConfigFile.json(files.file(OpenMossFormat.CONFIG_FILE)).text("sae_type", "");
        return type.equals("crosscoder") || type.equals("clt");
    }

    @Override
    Blocks open(ExplainerFiles files, Map<String, Safetensors> opened) throws IOException {
        ConfigFile config = ConfigFile.json(files.file(OpenMossFormat.CONFIG_FILE));
        OpenMossLayers layers = new OpenMossLayers(config, open(files, OpenMossFormat.WEIGHTS_FILE, opened));
        return config.text("sae_type", "").equals("clt")
                ? new OpenMossCrossLayer(layers)
                : new OpenMossCrosscoder(layers);
    }
}
