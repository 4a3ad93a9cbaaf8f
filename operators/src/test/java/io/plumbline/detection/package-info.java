/** What Plumbline's statistics see, how soon, and what rivals see on the same windows; the figures of deploy/DETECTION.md. */
package io.plumbline.detection;
