package io.plumbline.downstream;

import io.plumbline.adaptation.PairedErrors;
import io.plumbline.behaviour.BehaviourProbe;
import io.plumbline.behaviour.DownstreamSettings;
import io.plumbline.behaviour.Figure;
import io.plumbline.behaviour.WindowBehaviour;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.RequestRecord;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sequence metrics of one site's windows, through its head.
 *
 * <p><b>Cost.</b> Three runs of the head for each request, one more while an adapted decoder is in service, and a
 * bootstrap of {@value RequestBootstrap#DRAWS} draws. While a backlog is read, windows close faster than the head
 * answers; after a window that was measured it rests, so that it takes at most its share of the time and the records
 * behind it do not wait for it.
 */
final class HeadProbe implements BehaviourProbe {

    private static final Map<Statistic, Metric> METRICS = Map.of(
            Statistic.DELTA_CE, Metric.DELTA_CE,
            Statistic.KL, Metric.KL,
            Statistic.TOP1_AGREEMENT, Metric.TOP1_AGREEMENT,
            Statistic.LOSS_RECOVERED, Metric.LOSS_RECOVERED);

    private final Explainer explainer;
    private final Head head;
    private final Runnable closing;
    private final DownstreamSettings settings;
    private final LongSupplier nanoClock;

    /** The time when the next window may be measured, and the time that the last one took. */
    private long rested;

    private long lastNanoseconds;

    HeadProbe(Explainer explainer, Head head, Runnable closing, DownstreamSettings settings, LongSupplier nanoClock) {
        this.explainer = explainer;
        this.head = head;
        this.closing = closing;
        this.settings = settings;
        this.nanoClock = nanoClock;
        rested = nanoClock.getAsLong();
    }

    @Override
    public synchronized WindowBehaviour measure(List<byte[]> requests, @Nullable Decoder active) {
        long begin = nanoClock.getAsLong();
        if (begin - rested < 0) {
            return WindowBehaviour.nothing(
                    0,
                    String.format(
                            Locale.ROOT,
                            "the head rests: the window before took it %.1f s, and downstream.share lets it take %s of the time",
                            lastNanoseconds / 1e9,
                            settings.share()),
                    0);
        }
        WindowBehaviour found = measure(begin, requests, active);
        lastNanoseconds = found.nanoseconds();
        rested = begin + (long) (lastNanoseconds / settings.share());
        return found;
    }

    private WindowBehaviour measure(long begin, List<byte[]> requests, @Nullable Decoder active) {
        List<Sums> trained = new ArrayList<>();
        List<Sums> served = new ArrayList<>();
        int leftOut = 0;
        String refusal = head.readsResidual()
                ? "no whole request came: each has its rows and their residual in one record"
                : "no whole request came: each has its rows in one record";
        try {
            for (byte[] record : requests.subList(0, Math.min(settings.requests(), requests.size()))) {
                try {
                    RequestStudy study = study(record);
                    Sums ofTrained = study.sequence(explainer.decoder());
                    if (active != null) {
                        served.add(study.sequence(active));
                    }
                    trained.add(ofTrained);
                } catch (IllegalArgumentException unusable) {
                    leftOut++;
                    refusal = "no request could be measured: " + unusable.getMessage();
                }
                if (nanoClock.getAsLong() - begin > settings.budget().toNanos()) {
                    break;
                }
            }
        } catch (HeadException failed) {
            return WindowBehaviour.failed(
                    failed.fault().name().toLowerCase(Locale.ROOT),
                    String.valueOf(failed.getMessage()),
                    nanoClock.getAsLong() - begin);
        } catch (RuntimeException unforeseen) {
            return WindowBehaviour.failed(
                    HeadException.Fault.FAILED.name().toLowerCase(Locale.ROOT),
                    unforeseen.toString(),
                    nanoClock.getAsLong() - begin);
        }
        if (trained.isEmpty()) {
            return WindowBehaviour.nothing(leftOut, refusal, nanoClock.getAsLong() - begin);
        }
        RequestBootstrap drawn = RequestBootstrap.of(trained);
        return new WindowBehaviour(
                trained.size(),
                (long) drawn.whole().get(Sums.Of.ROWS),
                leftOut,
                figures(drawn),
                active == null ? null : figures(RequestBootstrap.of(served)),
                active == null ? null : change(trained, served),
                null,
                null,
                nanoClock.getAsLong() - begin);
    }

    private static PairedErrors change(List<Sums> trained, List<Sums> served) {
        double[] differences = new double[trained.size()];
        for (int i = 0; i < differences.length; i++) {
            differences[i] = served.get(i).get(Sums.Of.KL) - trained.get(i).get(Sums.Of.KL);
        }
        return PairedErrors.of(differences);
    }

    private RequestStudy study(byte[] record) {
        RequestRecord parsed = RequestRecord.parse(record, new KnownHeaders(), null);
        ActivationBatch batch = ActivationBatch.parse(record);
        RequestRows rows = new RequestRows(
                batch,
                head.readsResidual() && parsed.residual() != null
                        ? parsed.residual().toMatrix()
                        : null);
        if (head.readsResidual() && rows.residual() == null) {
            throw new IllegalArgumentException("a record has no tensor \"residual\"");
        }
        return RequestStudy.of(explainer, head, rows, new double[explainer.targetWidth()]);
    }

    private static Map<Statistic, Figure> figures(RequestBootstrap drawn) {
        Map<Statistic, Figure> figures = new EnumMap<>(Statistic.class);
        METRICS.forEach((statistic, metric) -> {
            Interval interval = drawn.interval(metric::of);
            if (Double.isFinite(interval.value()) && Double.isFinite(interval.low())) {
                figures.put(statistic, new Figure(interval.value(), interval.low(), interval.high()));
            }
        });
        return figures;
    }

    @Override
    public void close() {
        closing.run();
    }
}
