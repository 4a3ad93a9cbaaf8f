/**
 * Measures what the rest of a model does when an explainer's account takes the place of its activations: causal
 * metrics.
 *
 * <p>Whole requests enter ({@link io.plumbline.causal.heads.RequestRows}) with the rest of their model, cut behind the
 * site ({@link io.plumbline.causal.heads.Head}). Sums of each request leave ({@link io.plumbline.causal.heads.Sums}),
 * from which {@link io.plumbline.causal.heads.Metric} and intervals over requests are made.
 *
 * <p><b>Conventions.</b> The first row of a request is never replaced and never counted: it is an attention sink in
 * most models. No error term is kept: what the explainer does not reconstruct is gone. Logarithms are natural. Sums are
 * in {@code double}, from logits in {@code float}.
 *
 * <p><b>Why a module of its own.</b> ONNX Runtime is 43 MB of native code. A service without a head does without it.
 */
@NullMarked
package io.plumbline.causal.heads;

import org.jspecify.annotations.NullMarked;
