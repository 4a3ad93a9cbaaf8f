package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import io.plumbline.topology.config.LogFormat;
import io.plumbline.topology.config.LogLevel;
import io.plumbline.topology.config.LogSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The level of the log, which follows the configuration. */
class LogOutputTest {

    private static final String OURS = "io.plumbline.topology.ingest.RefusedRecords";
    private static final String QUIET = "org.apache.kafka.clients.NetworkClient";

    private final LoggerContext context = new LoggerContext();
    private LogOutput log;
    private Level usual;
    private Level usualOfQuiet;

    @BeforeEach
    void configure() throws JoranException {
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(LogOutput.class.getResource("/logback.xml"));
        usual = level(OURS);
        usualOfQuiet = level(QUIET);
        log = new LogOutput(context);
    }

    @AfterEach
    void stop() {
        context.stop();
    }

    @Test
    void theLevelOfTheConfigurationIsThatOfEveryLogger() {
        log.begin(new LogSettings(LogFormat.TEXT, LogLevel.INFO));
        assertEquals(Level.INFO, level(OURS));
        assertEquals(Level.INFO, level(QUIET));
    }

    @Test
    void aConfigurationWithoutALevelChangesNothing() {
        log.begin(new LogSettings(LogFormat.TEXT, null));
        assertEquals(usual, level(OURS));
        assertEquals(usualOfQuiet, level(QUIET));
    }

    @Test
    void theLevelFollowsTheConfiguration() {
        log.change(new LogSettings(LogFormat.TEXT, LogLevel.DEBUG));
        assertEquals(Level.DEBUG, level(OURS));
        assertEquals(Level.DEBUG, level(QUIET));
        log.change(new LogSettings(LogFormat.TEXT, LogLevel.WARN));
        assertEquals(Level.WARN, level(OURS));
        assertEquals(usualOfQuiet, level(QUIET));
    }

    @Test
    void aKeyThatIsTakenOutBringsTheUsualLevelBack() {
        log.change(new LogSettings(LogFormat.TEXT, LogLevel.DEBUG));
        log.change(new LogSettings(LogFormat.TEXT, null));
        assertEquals(usual, level(OURS));
        assertEquals(usualOfQuiet, level(QUIET));
    }

    private Level level(String logger) {
        return context.getLogger(logger).getEffectiveLevel();
    }
}
