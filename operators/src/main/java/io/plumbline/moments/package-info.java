@NullMarked
package io.plumbline.moments;

import org.jspecify.annotations.NullMarked;
