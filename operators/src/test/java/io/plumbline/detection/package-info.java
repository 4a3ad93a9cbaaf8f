/**
 * Measures what Plumbline's statistics see, and how soon; the figures of
 * docs/concepts/detection.md.
 */
package io.plumbline.detection;
