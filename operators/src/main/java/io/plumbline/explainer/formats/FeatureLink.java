package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Says where a page about each feature is: an address with {@code {feature}} in the place of its index.
 *
 * @param template an address of http or https
 */
public record FeatureLink(String template) {

    private static final String PLACE = "{feature}";
    private static final String NEURONPEDIA = "https://neuronpedia.org/";
    private static final String NEURONPEDIA_ID = "neuronpedia_id";
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+");
    private static final int LONGEST = 500;

    public FeatureLink {
        if (!template.contains(PLACE) || template.length() > LONGEST || !isWebAddress(template.replace(PLACE, "0"))) {
            throw new IllegalArgumentException(
                    "expected an address of http or https with {feature} in the place of the index, such as"
                            + " https://neuronpedia.org/gpt2-small/6-res-jb/{feature}");
        }
    }

    /** Returns the page on Neuronpedia that a SAELens folder names in its {@code neuronpedia_id}, or null. */
    public static @Nullable FeatureLink ofSaeLens(Path folder) throws IOException {
        Path file = folder.resolve(SaeLensConfig.FILE);
        if (!Files.isRegularFile(file)) {
            return null;
        }
        ConfigFile config = ConfigFile.json(file);
        String id = config.nested("metadata").document().path(NEURONPEDIA_ID).textValue();
        String named = id == null ? config.document().path(NEURONPEDIA_ID).textValue() : id;
        return named == null
                        || named.length() > LONGEST / 2
                        || !ID.matcher(named).matches()
                ? null
                : new FeatureLink(NEURONPEDIA + named + "/" + PLACE);
    }

    /** Returns the address of a feature's page. */
    public String of(int feature) {
        return template.replace(PLACE, Integer.toString(feature));
    }

    private static boolean isWebAddress(String address) {
        try {
            URI uri = URI.create(address);
            String scheme = String.valueOf(uri.getScheme());
            return (scheme.equalsIgnoreCase("https") || scheme.equalsIgnoreCase("http")) && uri.getHost() != null;
        } catch (IllegalArgumentException notAnAddress) {
            return false;
        }
    }
}
