package io.plumbline.topology.config;

/** The least severe line that the log shows. */
public enum LogLevel {
    ERROR,
    WARN,
    INFO,
    DEBUG
}
