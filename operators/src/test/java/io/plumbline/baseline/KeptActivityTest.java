package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.features.FeatureActivity;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptActivityTest {

    @TempDir
    private Path folder;

    @Test
    void aBaselineCountsHowOftenFeaturesAreActiveAndItsFileKeepsThat() throws IOException {
        Baseline built = BaselineTest.build(12);
        FeatureActivity activity = built.activity();
        assertNotNull(activity);
        assertEquals(built.rowCount(), activity.rows());
        assertEquals(12, activity.requests());
        assertEquals(activity, BaselineTest.reread(folder, built).activity());
        for (int j = 0; j < activity.features(); j++) {
            assertTrue(activity.activeRows()[j] <= activity.rows());
        }
    }

    @Test
    void countsThatCannotBeAreRefused() throws IOException {
        assertTrue(refused(2, new long[] {3}).contains("feature 0: active in 3 of 4 rows and in 3 requests"));
        assertTrue(refused(5, new long[] {1}).contains("activity of 4 rows in 5 requests"));
        assertTrue(refused(2, new long[] {1, 1}).contains("expected [1]"));
    }

    private String refused(long requests, long[] activeRequests) throws IOException {
        Path file = folder.resolve("activity.safetensors");
        SafetensorsWriter.create()
                .addLongs("feature_requests", requests, 8)
                .addLongs("feature_active_rows", 3)
                .addLongs("feature_active_requests", activeRequests)
                .addLongs("feature_squared_active_rows", 5)
                .addLongs("feature_active_times_rows", 6)
                .addVector("feature_activation", DType.F64, new double[] {1.5})
                .writeTo(file);
        try (Safetensors tensors = Safetensors.open(file)) {
            return String.valueOf(assertThrows(BaselineException.class, () -> KeptActivity.read("b", tensors, 4))
                    .getMessage());
        }
    }
}
