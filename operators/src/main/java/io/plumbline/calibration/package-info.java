@NullMarked
package io.plumbline.calibration;

import org.jspecify.annotations.NullMarked;
