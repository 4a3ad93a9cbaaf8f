package io.plumbline.topology.config;

/** The form of the lines of the log. */
public enum LogFormat {

    /** The time, the level, the class, a sentence and pairs of key and value, for people. */
    TEXT,

    /** One JSON object a line, for programs that collect logs. */
    JSON
}
