/** The one configuration: read, checked, and explained where it is refused. Nothing else reads a file of settings. */
@NullMarked
package io.plumbline.topology.config;

import org.jspecify.annotations.NullMarked;
