package io.plumbline.baseline;

import io.plumbline.features.FeatureActivity;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import org.jspecify.annotations.Nullable;

/** The part of a {@link BaselineFile} that says how often features are active. */
final class KeptActivity {

    private static final String REQUESTS = "feature_requests";
    private static final String ACTIVE_ROWS = "feature_active_rows";
    private static final String ACTIVE_REQUESTS = "feature_active_requests";
    private static final String SQUARED_ACTIVE_ROWS = "feature_squared_active_rows";
    private static final String ACTIVE_TIMES_ROWS = "feature_active_times_rows";
    private static final String ACTIVATION = "feature_activation";

    private KeptActivity() {}

    static void write(SafetensorsWriter writer, @Nullable FeatureActivity activity) {
        if (activity != null) {
            writer.addLongs(REQUESTS, activity.requests(), activity.squaredRows())
                    .addLongs(ACTIVE_ROWS, activity.activeRows())
                    .addLongs(ACTIVE_REQUESTS, activity.activeRequests())
                    .addLongs(SQUARED_ACTIVE_ROWS, activity.squaredActiveRows())
                    .addLongs(ACTIVE_TIMES_ROWS, activity.activeTimesRows())
                    .addVector(ACTIVATION, DType.F64, activity.activation());
        }
    }

    /** Reads the activity; null where the file does not say. */
    static @Nullable FeatureActivity read(String name, Safetensors tensors, long rows) {
        if (!tensors.contains(ACTIVE_ROWS)) {
            return null;
        }
        long[] requests =
                BaselineFile.vector(name, tensors, REQUESTS, 2, DType.I64).toLongs();
        Tensor active = BaselineFile.tensor(name, tensors, ACTIVE_ROWS, DType.I64);
        if (active.shape().size() != 1) {
            throw new BaselineException("%s: tensor \"%s\" has shape %s, expected one number a feature"
                    .formatted(name, ACTIVE_ROWS, active.shape()));
        }
        long features = active.shape().get(0);
        try {
            return new FeatureActivity(
                    rows,
                    requests[0],
                    requests[1],
                    active.toLongs(),
                    longs(name, tensors, ACTIVE_REQUESTS, features),
                    longs(name, tensors, SQUARED_ACTIVE_ROWS, features),
                    longs(name, tensors, ACTIVE_TIMES_ROWS, features),
                    BaselineFile.vector(name, tensors, ACTIVATION, features, DType.F64)
                            .toDoubles());
        } catch (IllegalArgumentException refused) {
            throw new BaselineException("%s: how often features are active: %s".formatted(name, refused.getMessage()));
        }
    }

    private static long[] longs(String name, Safetensors tensors, String tensor, long features) {
        return BaselineFile.vector(name, tensors, tensor, features, DType.I64).toLongs();
    }
}
