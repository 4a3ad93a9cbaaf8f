package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.WindowListener;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListenersTest {

    /**
     * Tests that meters override every method: one of a listener does nothing by default, and would never be counted.
     */
    @ParameterizedTest
    @ValueSource(classes = {PipelineMeters.class, AdaptationMeters.class, DecoderMeters.class})
    void nothingThatAStageReportsIsDropped(Class<?> meters) {
        List<Method> reported = Arrays.stream(meters.getInterfaces())
                .flatMap(listener -> Arrays.stream(listener.getMethods()))
                .toList();
        assertTrue(reported.size() > 2, reported::toString);
        List<String> dropped = reported.stream()
                .filter(method -> !isDeclared(meters, method))
                .map(Method::getName)
                .toList();
        assertEquals(List.of(), dropped, meters.getSimpleName());
    }

    private static boolean isDeclared(Class<?> meters, Method method) {
        return Arrays.stream(meters.getDeclaredMethods())
                .anyMatch(own -> own.getName().equals(method.getName())
                        && Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
    }

    @Test
    void bothHearEveryCallInTheirOrder() {
        List<String> heard = new ArrayList<>();
        IngestListener both =
                Listeners.both(IngestListener.class, new Noting("first", heard), new Noting("second", heard));
        both.onAccepted("blocks.7", 128);
        both.onMoment("blocks.7");
        assertEquals(List.of("first: 128 of blocks.7", "second: 128 of blocks.7"), heard);
    }

    private record Noting(String name, List<String> heard) implements IngestListener {
        @Override
        public void onAccepted(String site, int rows) {
            heard.add("%s: %d of %s".formatted(name, rows, site));
        }
    }

    @Test
    void anExceptionOfAGuardedListenerIsToldAndAnErrorIsThrown() {
        IllegalStateException exception = new IllegalStateException("no snapshot");
        AssertionError error = new AssertionError("broken");
        List<RuntimeException> failures = new ArrayList<>();
        WindowListener guarded = Listeners.guarded(
                WindowListener.class,
                new WindowListener() {
                    @Override
                    public void onForeign() {
                        throw exception;
                    }

                    @Override
                    public void onStall(long nanoseconds) {
                        throw error;
                    }
                },
                failures::add);
        guarded.onForeign();
        assertEquals(List.of(exception), failures);
        assertSame(error, assertThrows(AssertionError.class, () -> guarded.onStall(1)));
    }
}
