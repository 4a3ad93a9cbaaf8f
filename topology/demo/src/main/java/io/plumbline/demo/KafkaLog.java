package io.plumbline.demo;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.CyclicBufferAppender;
import java.io.PrintWriter;
import java.util.List;
import org.slf4j.LoggerFactory;

/**
 * Keeps Kafka's log lines out of the demonstration's table, and the last ones for the case that it fails.
 *
 * <p>A broker that starts and stops within seconds logs errors that harm nothing, such as a connection it was about to
 * close. Among the demonstration's lines they read as if something had gone wrong. {@code PLUMBLINE_LOG} asks for the
 * log, and then nothing is kept back.
 */
final class KafkaLog implements AutoCloseable {

    private static final int KEPT = 40;

    private final List<Logger> loggers;
    private final CyclicBufferAppender<ILoggingEvent> last = new CyclicBufferAppender<>();

    private KafkaLog(List<Logger> loggers) {
        this.loggers = loggers;
    }

    /** Returns what keeps Kafka's lines back until it is closed; nothing where a person asked for the log. */
    static KafkaLog keptBack() {
        boolean wanted = System.getenv("PLUMBLINE_LOG") != null;
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        KafkaLog log = new KafkaLog(
                wanted ? List.of() : List.of(context.getLogger("org.apache.kafka"), context.getLogger("kafka")));
        log.last.setContext(context);
        log.last.setMaxSize(KEPT);
        log.last.start();
        for (Logger logger : log.loggers) {
            logger.addAppender(log.last);
            logger.setAdditive(false);
        }
        return log;
    }

    /** Prints the last lines, for a demonstration that failed. */
    void print(PrintWriter out) {
        if (last.getLength() > 0) {
            out.println("the last lines of Kafka's log:");
        }
        for (int i = 0; i < last.getLength(); i++) {
            ILoggingEvent event = last.get(i);
            out.println("  %s %s %s - %s"
                    .formatted(
                            event.getInstant(), event.getLevel(), event.getLoggerName(), event.getFormattedMessage()));
        }
        out.flush();
    }

    @Override
    public void close() {
        for (Logger logger : loggers) {
            logger.detachAppender(last);
            logger.setAdditive(true);
        }
    }
}
