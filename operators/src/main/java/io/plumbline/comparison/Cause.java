package io.plumbline.comparison;

import java.util.List;

/**
 * A mistake that explains a change better than the change itself does.
 *
 * @param kind one of {@link #KINDS}
 * @param sentence with the figure that shows it
 */
public record Cause(String kind, String sentence) {

    /** The mistakes that are known. */
    public static final List<String> KINDS =
            List.of("missing_template", "overflow", "wrong_dtype", "scaled_rows", "another_layer", "far_rows");
}
