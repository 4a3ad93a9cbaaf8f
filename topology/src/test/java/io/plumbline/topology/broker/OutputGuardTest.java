package io.plumbline.topology.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.topology.config.TopicNames;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProductionExceptionHandler.Response;
import org.apache.kafka.streams.errors.ProductionExceptionHandler.Result;
import org.apache.kafka.streams.errors.ProductionExceptionHandler.SerializationExceptionOrigin;
import org.junit.jupiter.api.Test;

class OutputGuardTest {

    private final List<String> leftOut = new ArrayList<>();

    @Test
    void aReportThatCannotBeWrittenIsLeftOutAndTold() {
        assertEquals(Result.RESUME, refused(TopicNames.DEFAULT.windowReports()).result());
        assertEquals(List.of("window_reports"), leftOut);
    }

    @Test
    void aPaneThatCannotBeWrittenStopsTheApplication() {
        assertEquals(Result.FAIL, refused(TopicNames.DEFAULT.moments()).result());
        assertEquals(List.of(), leftOut);
    }

    private Response refused(String topic) {
        OutputGuard.Handler handler = new OutputGuard.Handler();
        handler.configure(Map.of(OutputGuard.CONFIG, OutputGuard.of(TopicNames.DEFAULT, leftOut::add)));
        // Of a window, which is made of many records: nothing is known of the place.
        ErrorHandlerContext nowhere = (ErrorHandlerContext) Proxy.newProxyInstance(
                ErrorHandlerContext.class.getClassLoader(),
                new Class<?>[] {ErrorHandlerContext.class},
                (proxy, method, arguments) -> method.getReturnType() == int.class
                        ? (Object) 0
                        : method.getReturnType() == long.class ? (Object) 0L : null);
        return handler.handleSerializationError(
                nowhere,
                new ProducerRecord<>(topic, new byte[1], new byte[9]),
                new SerializationException("9 bytes"),
                SerializationExceptionOrigin.VALUE);
    }
}
