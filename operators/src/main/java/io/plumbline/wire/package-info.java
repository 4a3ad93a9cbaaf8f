@NullMarked
package io.plumbline.wire;

import org.jspecify.annotations.NullMarked;
