@NullMarked
package io.plumbline.topology;

import org.jspecify.annotations.NullMarked;
