package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.metrics.PipelineMetrics;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What stands between the stages and those who count must leave nothing out: a default method of a listener does
 * nothing.
 */
class WatchersTest {

    @ParameterizedTest
    @ValueSource(classes = {PipelineMetrics.class, AdaptationMetrics.class, DecoderMetrics.class})
    void nothingThatIsReportedIsDropped(Class<?> watcher) {
        List<Method> reported = Arrays.stream(watcher.getInterfaces())
                .flatMap(listener -> Arrays.stream(listener.getMethods()))
                .toList();
        assertTrue(reported.size() > 2, reported::toString);
        List<String> dropped = reported.stream()
                .filter(method -> !isDeclared(watcher, method))
                .map(Method::getName)
                .toList();
        assertEquals(List.of(), dropped, watcher.getSimpleName());
    }

    private static boolean isDeclared(Class<?> watcher, Method method) {
        return Arrays.stream(watcher.getDeclaredMethods())
                .anyMatch(own -> own.getName().equals(method.getName())
                        && Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
    }
}
