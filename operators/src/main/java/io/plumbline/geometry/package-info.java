@NullMarked
package io.plumbline.geometry;

import org.jspecify.annotations.NullMarked;
