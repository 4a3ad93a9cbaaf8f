@NullMarked
package io.plumbline.adaptation;

import org.jspecify.annotations.NullMarked;
