/**
 * Asks what a model does with an explainer's account in place of its activations, in each window of the service.
 *
 * <p>Whole requests of a window enter, a {@link io.plumbline.causal.WindowBehaviour} leaves. Who runs the rest of
 * the model stands behind {@link io.plumbline.causal.BehaviourProbe}, so that nothing here knows how that is done:
 * ONNX Runtime's native code is on the class path of no service that does not ask for it.
 */
@NullMarked
package io.plumbline.causal;

import org.jspecify.annotations.NullMarked;
