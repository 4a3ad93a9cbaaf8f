package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.Panes;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tests what a drift is blamed on: stories of windows with headers, and the sentence that comes out. */
class KnownOriginsTest {

    private static final int ROWS = 100;

    static KnownOrigins known() {
        return KnownOrigins.NONE
                .after(window(0, Map.of("engine", "vllm", "größe", "😀")), false, false, 0.5)
                .after(window(1, Map.of("engine", "sglang")), true, true, Double.NaN);
    }

    @Test
    void aVersionThatCameWithTheDriftIsNamedBesideTheOldOne() {
        KnownOrigins known = KnownOrigins.NONE;
        for (int window = 0; window < 24; window++) {
            known = known.after(window(window, version("0.19")), false, false, 0.6);
        }
        // Deployed in the middle of a window that is still below the threshold, drifted in the second one above it.
        known = known.after(window(24, version("0.19"), version("0.20")), false, false, 0.9);
        known = known.after(window(25, version("0.20")), true, false, 2.0);
        ClosedWindow third = window(26, version("0.20"));
        known = known.after(third, true, true, 2.0);
        DriftCause cause = Causes.of(third, known, Map.of());
        assertEquals("change", cause.kind());
        assertEquals(1, cause.changes().size(), "the engine is the same");
        DriftCause.Change change = cause.changes().get(0);
        assertEquals("0.20", change.value());
        assertEquals(240_000, change.sinceMs());
        assertEquals(24, change.windowsBefore(), "a window of both values says nothing of either");
        assertEquals(
                "new with the drift: engine_version is 0.20 in 100 % of the rows, new since 1970-01-01T00:04:00Z; "
                        + "with 0.19 0 of 24 windows had drifted, at 60 % of the threshold on average",
                cause.sentence());
    }

    @Test
    void aVersionThatCameLongBeforeTheDriftIsNoCause() {
        KnownOrigins known = KnownOrigins.NONE;
        for (int window = 0; window < 24; window++) {
            known = known.after(window(window, version(window < 12 ? "0.19" : "0.20")), false, false, 0.6);
        }
        ClosedWindow drifted = window(24, version("0.20"));
        known = known.after(drifted, true, true, 2.0);
        DriftCause cause = Causes.of(drifted, known, Map.of());
        assertEquals("traffic", cause.kind());
        assertEquals(
                "no header or tag has a new value (engine, engine_version): the requests changed", cause.sentence());
    }

    @Test
    void theCauseStaysNamedWhileTheSiteIsDrifted() {
        KnownOrigins known = KnownOrigins.NONE.after(window(0, version("0.19")), false, false, 0.5);
        for (int window = 1; window < 50; window++) {
            ClosedWindow drifted = window(window, version("0.20"));
            known = known.after(drifted, true, true, 2.0);
            assertEquals("change", Causes.of(drifted, known, Map.of()).kind(), "window " + window);
        }
    }

    @Test
    void withoutHeadersTheCauseIsNotKnownAndTheFirstOnesAreNoChange() {
        ClosedWindow silent = window(0);
        assertEquals(
                "unknown",
                Causes.of(silent, KnownOrigins.NONE.after(silent, true, true, 2.0), Map.of())
                        .kind());
        ClosedWindow first = window(1, version("0.19"));
        KnownOrigins known = KnownOrigins.NONE.after(silent, false, false, 0.5).after(first, true, true, 2.0);
        assertEquals("traffic", Causes.of(first, known, Map.of()).kind(), "no value was there before");
    }

    @Test
    void aTagThatNamesUsersIsNoCause() {
        KnownOrigins known = KnownOrigins.NONE;
        for (int window = 0; window < 20; window++) {
            known = known.after(window(window, Map.of("user", "u" + window)), false, false, 0.5);
        }
        assertTrue(known.names().get("user").isEmpty());
        ClosedWindow drifted = window(20, Map.of("user", "u20"));
        assertEquals(
                "traffic",
                Causes.of(drifted, known.after(drifted, true, true, 2.0), Map.of())
                        .kind());
        TreeMap<String, String> many = new TreeMap<>();
        for (int name = 0; name < 30; name++) {
            many.put("n" + name, "x");
        }
        assertEquals(
                KnownOrigins.MOST_NAMES,
                known.after(window(21, many), false, false, 0.5).names().size());
    }

    @Test
    void bothValuesInOneWindowAreComparedInTheSentence() {
        KnownOrigins known = KnownOrigins.NONE.after(window(0, version("0.19")), false, false, 0.5);
        ClosedWindow both = window(1, version("0.19"), version("0.20"));
        known = known.after(both, true, true, 2.0);
        Breakdown breakdown = new Breakdown(
                "engine_version",
                64,
                List.of(
                        new Breakdown.OfValue("0.19", ROWS, 0.5, 0.1, 0.21, 3.1, 0.9),
                        new Breakdown.OfValue("0.20", ROWS, 0.5, 0.9, 0.48, 5.2, null)));
        DriftCause cause = Causes.of(both, known, Map.of("engine_version", breakdown));
        assertEquals(breakdown, cause.changes().get(0).comparison());
        assertTrue(
                cause.sentence()
                        .endsWith(
                                "; in this window, 0.20 against 0.19: FVU 0.480 against 0.210, gap 5.20 against 3.10"),
                cause.sentence());
    }

    @Test
    void whatIsKnownComesBackAsItWas() {
        KnownOrigins known = known();
        ByteBuffer bytes = ByteBuffer.wrap(known.encode());
        assertEquals(known, KnownOrigins.decode(bytes));
        assertEquals(0, bytes.remaining());
        assertNotNull(known.names().get("größe"));
        assertNull(known.names().get("grösse"));
    }

    private static Map<String, String> version(String version) {
        return Map.of("engine", "vllm", "engine_version", version);
    }

    @SafeVarargs
    private static ClosedWindow window(int number, Map<String, String>... origins) {
        WindowNotes notes = new WindowNotes();
        for (Map<String, String> origin : origins) {
            notes.add(
                    new ProducerNotes(Coverage.UNKNOWN, Origin.of(origin)),
                    ROWS / Math.max(1, origins.length),
                    new long[0]);
        }
        return Panes.window(
                "site",
                10_000L * number,
                10_000L * (number + 1),
                SecondMomentAccumulator.ofDimension(2)
                        .add(Matrix.zeros(ROWS, 2))
                        .snapshot(),
                RowSample.ofCapacity(8),
                1,
                notes,
                new RowAccount(0, 0, 0, Map.of(), Map.of(), 0));
    }
}
