package io.plumbline.topology.assessment;

import io.plumbline.adaptation.PairedErrors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of one window: nearly all the work, and nothing of what is remembered of its site.
 *
 * @param view what they start from
 * @param decoderVersion version of the decoder in service while it was measured, 0 while that is the trained one as it
 *     came
 * @param fvu of that decoder on the rows that reconstruction is measured on
 * @param activeGap its faithfulness gap
 * @param errors it against the trained one, while it is an adapted one that is watched
 * @param sections what the sections of the report will tell
 * @param nanoseconds what it took
 */
record Measurement(
        WindowView view,
        long decoderVersion,
        @Nullable Double fvu,
        @Nullable Double activeGap,
        @Nullable PairedErrors errors,
        List<Measures.Measured<?>> sections,
        long nanoseconds) {}
