/**
 * Reads explainers as people publish them, and writes folders in which only the decoder is new.
 *
 * <p><b>Enters:</b> a folder or file. <b>Leaves:</b> an {@link io.plumbline.explainer.Explainer}, or one sentence
 * that says what is wrong and what is supported. A further format is one class and one line in {@link Formats};
 * whoever holds an explainer does not know in which format it came.
 */
@NullMarked
package io.plumbline.explainer.formats;

import org.jspecify.annotations.NullMarked;
