package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.ActiveDecoders.Active;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DecodersInServiceTest {

    private static final Set<String> BLOCKS = Set.of("clt/targets.0", "clt/targets.1", "clt/targets.2");

    @Test
    void noneOfTheBlocksIsInServiceBeforeAllAre() {
        DecodersInService decoders = new DecodersInService();
        decoders.take(version(1));
        AtomicInteger looks = new AtomicInteger();
        decoders.take(new AbstractMap<>() {
            @Override
            public Set<Entry<String, Active>> entrySet() {
                Map<String, Active> next = new LinkedHashMap<>();
                version(2).forEach((block, active) -> next.put(block, active));
                return new AbstractSet<>() {
                    @Override
                    public Iterator<Entry<String, Active>> iterator() {
                        Iterator<Entry<String, Active>> entries =
                                next.entrySet().iterator();
                        return new Iterator<>() {
                            @Override
                            public boolean hasNext() {
                                looks.incrementAndGet();
                                BLOCKS.forEach(block -> assertVersion(decoders, block, 1));
                                return entries.hasNext();
                            }

                            @Override
                            public Entry<String, Active> next() {
                                return entries.next();
                            }
                        };
                    }

                    @Override
                    public int size() {
                        return next.size();
                    }
                };
            }
        });
        assertEquals(BLOCKS.size() + 1, looks.get());
        BLOCKS.forEach(block -> assertVersion(decoders, block, 2));
    }

    @Test
    void aVersionThatIsAwaitedComesWithItsSite() throws InterruptedException {
        DecodersInService decoders = new DecodersInService();
        assertNull(decoders.await("clt/targets.0", 1, 1));
        Thread taking = new Thread(() -> decoders.take(version(3)));
        taking.start();
        Active awaited = decoders.await("clt/targets.0", 2, 60_000_000_000L);
        assertEquals(3, Objects.requireNonNull(awaited).version());
        taking.join();
    }

    private static void assertVersion(DecodersInService decoders, String block, long version) {
        assertEquals(version, Objects.requireNonNull(decoders.of(block)).version(), block);
    }

    private static Map<String, Active> version(long version) {
        Map<String, Active> blocks = new LinkedHashMap<>();
        Decoder decoder = new Decoder(Matrix.zeros(2, 2), new double[2]);
        BLOCKS.forEach(block -> blocks.put(block, new Active(decoder, version)));
        return blocks;
    }
}
