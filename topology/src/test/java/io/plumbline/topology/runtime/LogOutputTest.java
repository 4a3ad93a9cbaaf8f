package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import io.plumbline.topology.config.LogFormat;
import io.plumbline.topology.config.LogLevel;
import io.plumbline.topology.config.LogSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The level of the log, which follows the configuration file. */
class LogOutputTest {

    private static final String OURS = "io.plumbline.topology.ingest.RefusedRecords";
    private static final String QUIET = "org.apache.kafka.clients.NetworkClient";

    private final LoggerContext context = new LoggerContext();
    private LogOutput log;
    private Level usual;
    private Level usualOfQuiet;
    private int writes;

    @TempDir
    private Path folder;

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
        log.close();
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
    void theLevelFollowsTheFileAndNothingElseOfItIsLookedAt() throws IOException {
        Path file = write("sites: none\nlog: {level: debug}");
        log.look(file);
        assertEquals(Level.DEBUG, level(OURS));
        assertEquals(Level.DEBUG, level(QUIET));
        write("log: {level: warn}");
        log.look(file);
        assertEquals(Level.WARN, level(OURS));
        assertEquals(usualOfQuiet, level(QUIET));
    }

    @Test
    void aKeyThatIsTakenOutBringsTheUsualLevelBack() throws IOException {
        Path file = write("log: {level: debug}");
        log.look(file);
        write("log: {format: text}");
        log.look(file);
        assertEquals(usual, level(OURS));
        assertEquals(usualOfQuiet, level(QUIET));
    }

    @Test
    void aFileWithAMistakeOrWithoutAnythingKeepsTheLevel() throws IOException {
        Path file = write("log: {level: debug}");
        log.look(file);
        write("log: {level: loud}");
        log.look(file);
        assertEquals(Level.DEBUG, level(OURS));
        write("log: {level: inf");
        log.look(file);
        assertEquals(Level.DEBUG, level(OURS));
        Files.delete(file);
        log.look(file);
        assertEquals(Level.DEBUG, level(OURS));
    }

    private Level level(String logger) {
        return context.getLogger(logger).getEffectiveLevel();
    }

    private Path write(String yaml) throws IOException {
        Path file = Files.writeString(folder.resolve("plumbline.yaml"), yaml);
        // A clock that is coarse must not make two writes one.
        return Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L + ++writes));
    }
}
