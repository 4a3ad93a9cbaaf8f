@NullMarked
package io.plumbline.explainer;

import org.jspecify.annotations.NullMarked;
