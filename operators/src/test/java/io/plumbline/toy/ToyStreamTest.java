package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.golden.GoldenCase;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class ToyStreamTest {

    @Test
    void theFirstRowsAreTheReferences() throws IOException {
        Safetensors check = Safetensors.parse(GoldenCase.bytes("toy/stream_check.safetensors"));
        // A few units in the last place of numbers up to 5: logarithm and cosine differ between platforms.
        assertArrayEquals(
                check.tensor("z").toDoubles(), NormalStream.rows(1, 0, 4, 128).values(), 1e-14);
        assertArrayEquals(
                check.tensor("z_stream0").toDoubles(),
                NormalStream.rows(0, 0, 4, 128).values(),
                1e-14);
        ToyStream.Rows rows = ToyStream.load().rows(5, 1, 0, 4);
        assertArrayEquals(check.tensor("x_s05").toDoubles(), rows.inputs().values(), 1e-5);
        assertArrayEquals(check.tensor("h_s05").toDoubles(), rows.hidden().values(), 1e-5);
    }

    @Test
    void aRangeOfRowsIsTheSameHoweverItIsReached() {
        Matrix whole = NormalStream.rows(3, 100, 20, 7);
        assertEquals(whole.rowRange(5, 12), NormalStream.rows(3, 105, 7, 7));
        ToyStream stream = ToyStream.load();
        assertEquals(
                stream.rows(2, 1, 0, 10).hidden().rowRange(4, 10),
                stream.rows(2, 1, 4, 6).hidden());
    }

    @Test
    void activationsAreFloats() {
        for (double value : ToyStream.load().rows(9, 1, 0, 5).hidden().values()) {
            assertEquals((float) value, value);
        }
    }

    @Test
    void anUnknownSeverityIsRefused() {
        ToyStream stream = ToyStream.load();
        assertThrows(IllegalArgumentException.class, () -> stream.rows(11, 1, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> stream.rows(-1, 1, 0, 1));
        assertThrows(
                IllegalArgumentException.class, () -> SweepTable.autoencoder().get(0, "nothing"));
    }
}
