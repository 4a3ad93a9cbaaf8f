/** The detection study on recorded activations. */
package io.plumbline.topology.detection;
