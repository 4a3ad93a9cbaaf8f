package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.RequestTotalling;
import java.util.List;
import org.junit.jupiter.api.Test;

class WindowPanesTest {

    /** The width of rows whose moment has two tiles. */
    private static final int WIDTH = 400;

    private static final int ROWS = 3;

    @Test
    void whatOnePaneHasIsNotLostToTheNext() {
        Pane cut = pane(1, 1, new MaskedRows(4, 5));
        Pane whole = pane(2, 2, new MaskedRows(1, 0));
        ClosedWindow window = closed(cut, whole);
        assertEquals(new MaskedRows(5, 5), window.masked());
        assertEquals(2, window.requests());
        assertEquals(2L * ROWS, window.moment().rows());
        assertFalse(window.complete(), "a tile of the first pane is missing");
        assertFalse(closed(whole, cut).complete());
        assertTrue(closed(whole, whole).complete());
    }

    private static ClosedWindow closed(Pane... panes) {
        return new WindowPanes(
                        Panes.site("site", WIDTH, 8, RequestTotalling.NONE),
                        0,
                        10,
                        List.of(panes),
                        ClosedWindow.ClosedBy.EVENT_TIME,
                        new SiteProgress().account(0))
                .compose();
    }

    private static Pane pane(long seed, int tiles, MaskedRows masked) {
        SecondMomentAccumulator moment =
                SecondMomentAccumulator.ofDimension(WIDTH).add(ActivationRecords.integerRows(seed, ROWS, WIDTH));
        Pane pane = Panes.of(WIDTH, 8);
        MomentTile.cut(WIDTH, ROWS, moment.state()).subList(0, tiles).forEach(tile -> Panes.take(pane, tile));
        Panes.count(pane, 1, masked);
        return pane;
    }
}
