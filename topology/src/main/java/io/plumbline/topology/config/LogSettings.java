package io.plumbline.topology.config;

import org.jspecify.annotations.Nullable;

/**
 * Says how the log is written.
 *
 * @param format of its lines
 * @param level of its least severe lines; null: that of {@code PLUMBLINE_LOG}
 */
public record LogSettings(LogFormat format, @Nullable LogLevel level) {}
