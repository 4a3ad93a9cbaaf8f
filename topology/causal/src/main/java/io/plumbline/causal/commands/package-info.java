/**
 * Runs the rest of a model on files: what does the model do with the explainer's account in place?
 *
 * <p>In a module of their own, since ONNX Runtime's native code must not stand on the class path of the service.
 */
@NullMarked
package io.plumbline.causal.commands;

import org.jspecify.annotations.NullMarked;
