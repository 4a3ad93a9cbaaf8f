package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class StoppedDemoIT {

    /** Lets the test wait for a line. */
    private static final class Watched extends StringWriter {
        private final String awaited;
        private final CountDownLatch seen = new CountDownLatch(1);

        Watched(String awaited) {
            this.awaited = awaited;
        }

        @Override
        public void flush() {
            if (getBuffer().indexOf(awaited) >= 0) {
                seen.countDown();
            }
        }
    }

    @Test
    void stopInTheMiddleOfTheStoryLeavesNothingAndComplainsOfNothing() throws Exception {
        Set<Path> before = folders();
        Watched printed = new Watched("English");
        AtomicReference<Exception> thrown = new AtomicReference<>();
        Demo demo = new Demo(new PrintWriter(printed, true), 120, page -> {});
        Thread player = new Thread(() -> {
            try (demo) {
                demo.run();
            } catch (Exception e) {
                thrown.set(e);
            }
        });
        player.start();
        assertTrue(printed.seen.await(120, TimeUnit.SECONDS), printed::toString);

        demo.stop();

        player.join(TimeUnit.SECONDS.toMillis(30));
        assertFalse(player.isAlive(), "the thread that plays ends");
        assertTrue(demo.isStopping() && thrown.get() != null, "run does not return a result");
        assertFalse(printed.toString().contains("while stopping"), printed::toString);
        assertEquals(before, folders());
    }

    private static Set<Path> folders() throws IOException {
        try (Stream<Path> entries = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return entries.filter(path -> path.getFileName().toString().startsWith("plumbline-demo-"))
                    .collect(Collectors.toSet());
        }
    }
}
