package io.plumbline.topology.runtime;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import io.plumbline.topology.config.LogFormat;
import io.plumbline.topology.config.LogLevel;
import io.plumbline.topology.config.LogSettings;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The log of this process, as a configuration asks for it; {@code logback.xml} says what it is until then.
 *
 * <p>The level follows the configuration while the process runs. Whoever may write the file may do so, and nobody else:
 * the HTTP server changes nothing.
 */
public final class LogOutput {

    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(LogOutput.class);

    /** The appender's name in {@code logback.xml}; one of another file is its author's. */
    private static final String APPENDER = "STDERR";

    private final LoggerContext context;
    private final Logger root;

    /** The loggers that have a level of their own, and the level they began with. */
    private final Map<Logger, Level> first = new HashMap<>();

    public LogOutput() {
        this((LoggerContext) LoggerFactory.getILoggerFactory());
    }

    LogOutput(LoggerContext context) {
        this.context = context;
        root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        context.getLoggerList().stream()
                .filter(logger -> logger.getLevel() != null)
                .forEach(logger -> first.put(logger, logger.getLevel()));
    }

    /** Gives the lines from here on the form and the level that the configuration names. */
    public void begin(LogSettings settings) {
        if (settings.format() == LogFormat.JSON
                && root.getAppender(APPENDER) instanceof OutputStreamAppender<ILoggingEvent> appender) {
            JsonLines lines = new JsonLines();
            lines.setContext(context);
            lines.start();
            appender.setEncoder(lines);
        }
        show(settings.level());
    }

    /** Sets the level that a changed configuration names; its form stays. */
    public void change(LogSettings settings) {
        Level before = root.getLevel();
        show(settings.level());
        Level after = root.getLevel();
        if (!after.equals(before)) {
            // At whichever of the two shows more: a level of errors alone would not show that it is one.
            root.setLevel(after.isGreaterOrEqual(before) ? before : after);
            LOG.warn("the log has another level: setting={} value={}", "log.level", after);
            root.setLevel(after);
        }
    }

    /** Loggers that are quieter than others at the usual level are as loud as others at a louder one. */
    private void show(@Nullable LogLevel level) {
        first.forEach((logger, began) -> {
            if (level == null || (level == LogLevel.WARN && !logger.equals(root))) {
                logger.setLevel(began);
            } else {
                logger.setLevel(Level.toLevel(level.name()));
            }
        });
    }
}
