package io.plumbline.toy;

import io.plumbline.detection.DetectionBench;
import io.plumbline.detection.DetectionTable;
import io.plumbline.detection.Scores;
import io.plumbline.wire.ActivationBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The toy stream with rows correlated at .9 within requests of 32: a baseline at severity 0, then windows of 512 rows at other
 * severities, or with some requests of the largest one.
 */
final class ToyDetection {

    static final int WORST = ToyStream.SEVERITIES - 1;
    private static final int WINDOW_ROWS = 512;
    private static final double RATE = 0.05;

    private final HeldOutStream stream = new HeldOutStream(0.9, WINDOW_ROWS);
    private final List<ActivationBatch> usual;
    private final List<ActivationBatch> worst;
    private final int windows;
    private final DetectionBench bench;
    private final DetectionTable table;

    /**
     * @param cleanWindows to calibrate on
     * @param windows of each kind
     * @param lines takes the table
     */
    ToyDetection(int cleanWindows, int windows, Consumer<String> lines) {
        this.windows = windows;
        bench = new DetectionBench(stream.watched(), ToyStream.RANK, WINDOW_ROWS, stream.requests(2, cleanWindows, 0));
        usual = stream.requests(3, windows, 0);
        worst = stream.requests(4, windows, WORST);
        table = new DetectionTable(bench.clean(), RATE, partly(0.0), lines);
    }

    DetectionBench bench() {
        return bench;
    }

    DetectionTable table() {
        return table;
    }

    /** A share of the requests at the worst severity. */
    Scores partly(double share) {
        return bench.mixed(usual, worst, at -> share, windows, 11);
    }

    /** All requests at one severity. */
    Scores wholly(int severity) {
        return bench.mixed(usual, stream.requests(5, windows, severity), at -> 1.0, windows, 12);
    }

    /** Runs in which the severity rises by 0.1 a window, from 0 to 1. */
    List<Scores> ramps(int runs) {
        List<Scores> ramps = new ArrayList<>();
        for (int run = 0; run < runs; run++) {
            Scores ramp = new Scores();
            for (int severity = 0; severity <= WORST; severity++) {
                Scores window = bench.mixed(
                        stream.requests(20 + run, 2, severity), List.of(), at -> 0.0, 1, 31L * run + severity);
                window.detectors().forEach(detector -> ramp.add(detector, window.of(detector)[0]));
            }
            ramps.add(ramp);
        }
        return ramps;
    }
}
