package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.WindowListener;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
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
    void stagesOfEveryRecordLetTheMetersCountFirstAndHandEveryCallOn() throws Exception {
        List<RuntimeException> failures = new ArrayList<>();
        List<String> heard = new ArrayList<>();
        requireEveryCall(
                IngestListener.class,
                new RecordListeners.Ingest(
                        noting(IngestListener.class, "first", heard),
                        failures::add,
                        noting(IngestListener.class, "next", heard)),
                heard,
                failures);
        requireEveryCall(
                WindowListener.class,
                new RecordListeners.Windows(
                        noting(WindowListener.class, "first", heard),
                        failures::add,
                        noting(WindowListener.class, "next", heard)),
                heard,
                failures);
    }

    private static void requireEveryCall(
            Class<?> type, Object joined, List<String> heard, List<RuntimeException> failures) throws Exception {
        for (Method method : type.getMethods()) {
            heard.clear();
            failures.clear();
            method.setAccessible(true);
            Object[] arguments = Arrays.stream(method.getParameterTypes())
                    .map(ListenersTest::example)
                    .toArray();
            method.invoke(joined, arguments);
            String call = method.getName() + Arrays.toString(arguments);
            assertEquals(List.of("first: " + call, "next: " + call), heard);
            assertEquals(1, failures.size(), call);
        }
    }

    private static @Nullable Object example(Class<?> type) {
        if (type == int.class) {
            return 128;
        }
        if (type == long.class) {
            return 4_711L;
        }
        return type == String.class ? "blocks.7" : null;
    }

    /** Returns a listener that notes every call; the first one then throws. */
    private static <T> T noting(Class<T> type, String name, List<String> heard) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    heard.add("%s: %s%s"
                            .formatted(
                                    name,
                                    method.getName(),
                                    Arrays.toString(arguments == null ? new Object[0] : arguments)));
                    if (name.equals("first")) {
                        throw new IllegalStateException("no snapshot");
                    }
                    return null;
                }));
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
