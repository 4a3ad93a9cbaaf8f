/**
 * Measures what Plumbline's statistics see, how soon, and what rivals see on the same windows; the figures of
 * docs/concepts/detection.md.
 */
package io.plumbline.detection;
