package io.plumbline.causal.heads;

import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.adaptation.PairedErrors;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.Figure;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
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
 * bootstrap of {@value RequestBootstrap#DRAWS} draws; {@link WindowAblations}, where asked for, with what the budget
 * leaves. While a backlog is read, windows close faster than the head
 * answers; after a window that was measured it rests, so that it takes at most its share of the time and the records
 * behind it do not wait for it.
 */
final class HeadProbe implements BehaviourProbe {

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
                            "the head rests: the window before took it %.1f s, "
                                    + "and downstream.share lets it take %s of the time",
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
        WindowAblations ablations = new WindowAblations(explainer.decoder(), active);
        List<byte[]> measured = new ArrayList<>();
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
                    measured.add(record);
                } catch (IllegalArgumentException unusable) {
                    leftOut++;
                    refusal = "no request could be measured: " + unusable.getMessage();
                }
                if (isSpent(begin)) {
                    break;
                }
            }
            // Ablate last: a budget that ends must not take the figures that windows are judged by.
            ablate(begin, measured, ablations);
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
                ablations.figures(),
                null,
                null,
                nanoClock.getAsLong() - begin);
    }

    private boolean isSpent(long begin) {
        return nanoClock.getAsLong() - begin > settings.budget().toNanos();
    }

    private void ablate(long begin, List<byte[]> measured, WindowAblations ablations) {
        for (byte[] record : measured.subList(0, Math.min(settings.ablations(), measured.size()))) {
            if (isSpent(begin)) {
                return;
            }
            ablations.add(study(record));
        }
    }

    private static PairedErrors change(List<Sums> trained, List<Sums> served) {
        double[] differences = new double[trained.size()];
        for (int i = 0; i < differences.length; i++) {
            differences[i] = served.get(i).get(Sums.Of.KL) - trained.get(i).get(Sums.Of.KL);
        }
        return PairedErrors.of(differences);
    }

    private RequestStudy study(byte[] record) {
        RequestRows rows = RecordedRequests.rows(record, head.readsResidual());
        return RequestStudy.of(explainer, head, rows, new double[explainer.targetWidth()]);
    }

    private static Map<Statistic, Figure> figures(RequestBootstrap drawn) {
        Map<Statistic, Figure> figures = new EnumMap<>(Statistic.class);
        WindowMetrics.BY_STATISTIC.forEach((statistic, metric) -> {
            Interval interval = drawn.interval(metric::of);
            if (Double.isFinite(interval.value()) && Double.isFinite(interval.low())) {
                figures.put(statistic, new Figure(interval.value(), interval.low(), interval.high()));
            }
        });
        return figures;
    }

    @Override
    public BehaviourJudge judge(List<byte[]> heldOut, @Nullable List<byte[]> choosing, List<byte[]> normal) {
        RecordedRequests clean = RecordedRequests.usable(normal, settings.requests(), head);
        return new KlJudge(
                explainer,
                new Waiting(),
                RecordedRequests.usable(heldOut, settings.requests(), head),
                choosing == null ? null : RecordedRequests.usable(choosing, settings.requests(), head),
                clean.count() == 0 ? null : clean,
                settings.maximumGrowth());
    }

    /** Lets a judge run the head between the windows that are measured. */
    private final class Waiting implements Head {

        @Override
        public boolean readsResidual() {
            return head.readsResidual();
        }

        @Override
        public Logits logits(Matrix rows, @Nullable Matrix residual) {
            synchronized (HeadProbe.this) {
                return head.logits(rows, residual);
            }
        }
    }

    @Override
    public void close() {
        closing.run();
    }
}
