package io.plumbline.topology.security;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.LoggerFactory;

/**
 * Hears every logger of this process at {@code debug} while it is open, and keeps the lines that hold one of some
 * words.
 */
final class LogWatch implements AutoCloseable {

    private final Set<String> words;
    private final Queue<String> found = new ConcurrentLinkedQueue<>();
    private final AtomicLong heard = new AtomicLong();
    private final Map<Logger, Level> levels = new HashMap<>();
    private final List<Appender<ILoggingEvent>> silenced = new ArrayList<>();
    private final Logger root;
    private final AppenderBase<ILoggingEvent> ear = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            heard.incrementAndGet();
            String line = event.getLoggerName() + " " + event.getFormattedMessage();
            if (event.getThrowableProxy() != null) {
                line += ThrowableProxyUtil.asString(event.getThrowableProxy());
            }
            for (String word : words) {
                if (line.contains(word)) {
                    found.add(line);
                }
            }
        }
    };

    LogWatch(Set<String> words) {
        this.words = words;
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        for (Iterator<Appender<ILoggingEvent>> all = root.iteratorForAppenders(); all.hasNext(); ) {
            silenced.add(all.next());
        }
        silenced.forEach(root::detachAppender);
        for (Logger logger : context.getLoggerList()) {
            if (logger.getLevel() != null) {
                levels.put(logger, logger.getLevel());
                logger.setLevel(Level.DEBUG);
            }
        }
        ear.setContext(context);
        ear.start();
        root.addAppender(ear);
    }

    List<String> found() {
        return List.copyOf(found);
    }

    long heard() {
        return heard.get();
    }

    @Override
    public void close() {
        root.detachAppender(ear);
        silenced.forEach(root::addAppender);
        levels.forEach(Logger::setLevel);
    }
}
