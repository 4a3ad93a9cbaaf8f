package io.plumbline.topology.ingest;

import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.jspecify.annotations.Nullable;

/** Decides whether a record that reads well is taken. Asked in the record's own task, while its bytes are at hand. */
@FunctionalInterface
public interface Admission {

    /** Returns why a record of this event time is refused, or null. */
    @Nullable
    DeadLetter refusal(Ingested record, long timestampMs);

    /** Makes the admission of one task. */
    @FunctionalInterface
    interface Supplier {
        Admission of(ProcessorContext<?, ?> context);
    }
}
