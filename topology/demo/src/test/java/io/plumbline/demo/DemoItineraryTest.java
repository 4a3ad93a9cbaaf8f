package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.demo.Traffic.Stretch;
import io.plumbline.records.ActivationFile;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoItineraryTest {

    @Test
    void everyWindowIsWholeAlsoTheOneThatStaysOpen() throws IOException {
        try (DemoFolder folder = DemoFolder.unpack();
                ActivationFile english = ActivationFile.open(folder.root().resolve("english.safetensors"));
                ActivationFile german = ActivationFile.open(folder.root().resolve("german.safetensors"))) {
            List<Stretch> stretches = Demo.itinerary(english, german);
            int last = stretches.size() - 1;
            assertEquals(stretches.get(last - 1), stretches.get(last), "the last one is sent twice, to close it");
            for (Stretch stretch : stretches) {
                long rows = 0;
                for (int request = stretch.from(); request < stretch.to(); request++) {
                    rows += stretch.file().request(request).rows();
                }
                assertTrue(rows >= 2048, stretch + " has " + rows + " rows");
            }
        }
    }
}
