@NullMarked
package io.plumbline.linalg;

import org.jspecify.annotations.NullMarked;
