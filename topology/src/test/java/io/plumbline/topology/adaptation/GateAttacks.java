package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.adaptation.GateVerdict.Improvement;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WindowCodes;
import io.plumbline.wire.DType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes windows that fool a gate, of recorded requests, and compares what the gate claims with later rows. */
final class GateAttacks {

    private static final int RANK = 32;
    private static final double VALIDATION_SHARE = 0.25;

    private final Explainer explainer;
    private final SiteRefit refit;
    private final List<List<SampledRow>> one;
    private final List<List<SampledRow>> other;
    private final double rate;

    /**
     * A window, and what comes after it.
     *
     * @param pool requests in the order of their times
     */
    record Attack(List<List<SampledRow>> pool, List<List<SampledRow>> later) {}

    /**
     * The answer to an attack.
     *
     * @param claim share of the error that the gate says is taken away; null where nothing was judged
     * @param truth the share on later rows, by the published decoder; null where none was
     */
    record Result(
            String outcome,
            @Nullable Improvement claim,
            @Nullable Double truth,
            String reason) {

        /** Returns by how many points the claim is above the truth; 0 where nothing was published. */
        double excess() {
            return truth == null || claim == null || claim.improvement() == null
                    ? 0.0
                    : 100.0 * (claim.improvement() - truth);
        }

        /** Returns a line of the table in docs/data. */
        String row(String name) {
            return "%s,%s,%s,%s,%s,%s"
                    .formatted(
                            name,
                            outcome,
                            claim == null ? "" : percent(claim.improvement()),
                            claim == null ? "" : percent(claim.improvementLower()),
                            claim == null ? "" : percent(claim.improvementUpper()),
                            percent(truth));
        }

        private static String percent(@Nullable Double share) {
            return share == null ? "" : String.format(Locale.ROOT, "%.1f", 100.0 * share);
        }
    }

    /**
     * @param baseline rows in distribution
     * @param one requests of a shifted stream in their order
     * @param other requests of another one
     * @param rate the share of the rows that is sampled
     */
    GateAttacks(
            Explainer explainer,
            List<SampledRow> baseline,
            List<List<SampledRow>> one,
            List<List<SampledRow>> other,
            double rate) {
        this.rate = rate;
        this.explainer = explainer;
        this.one = one;
        this.other = other;
        this.refit = new SiteRefit(
                "layer.2",
                explainer,
                ExplainerSubspace.of(explainer.decoder(), RANK),
                baseline,
                RANK,
                new AdaptationSettings(
                        new AdaptationProfile.Auto(),
                        GateLimits.DEFAULTS,
                        VALIDATION_SHARE,
                        SelectBy.FVU,
                        DType.F32,
                        8_192,
                        Duration.ZERO),
                new WindowCodes(),
                null,
                List.of());
    }

    /** Names where the gate says too little: long rows are fitted on and do not judge, and later traffic has them. */
    static final Set<String> BEYOND_THE_LIMITS = Set.of("first rows 5 times as long and later ones too");

    /** Returns the windows; those of one kind take the first 30 requests of a stream, those of two 20 of each. */
    Map<String, Attack> attacks() {
        Map<String, Attack> attacks = new LinkedHashMap<>();
        List<List<SampledRow>> later = one.subList(30, one.size());
        List<List<SampledRow>> both = Stream.concat(
                        one.subList(30, Math.min(50, one.size())).stream(), other.subList(20, 40).stream())
                .toList();
        attacks.put("no attack", new Attack(one.subList(0, 30), later));
        for (double moved : new double[] {0.15, 0.2, 0.24, 0.3, 0.5, 0.7, 1.0}) {
            attacks.put(
                    "40 near copies of one prompt; later rows moved by %s sd".formatted(moved),
                    new Attack(nearCopies(1, moved), later));
        }
        attacks.put("40 near copies of one prompt; each row moved by 0.3 sd on its own", new Attack(noisy(0.3), later));
        attacks.put("40 near copies of three prompts; moved by 0.2 sd", new Attack(nearCopies(3, 0.2), later));
        attacks.put("40 near copies of ten prompts; moved by 0.2 sd", new Attack(nearCopies(10, 0.2), later));
        attacks.put("one language first and then another", new Attack(joined(one, other), both));
        attacks.put("the other language first", new Attack(joined(other, one), both));
        attacks.put("two languages in turn", new Attack(inTurn(), both));
        attacks.put("requests half of one and half of another", new Attack(halves(0, 20), halves(20, 20)));
        for (int factor : new int[] {5, 30, 300}) {
            attacks.put(
                    "first rows %d times as long".formatted(factor),
                    new Attack(longFirst(one.subList(0, 30), factor), later));
            attacks.put(
                    "first rows %d times as long and later ones too".formatted(factor),
                    new Attack(longFirst(one.subList(0, 30), factor), longFirst(later, factor)));
        }
        attacks.put("a third of the rows 9 times as long", new Attack(longThird(one.subList(0, 30)), later));
        attacks.put("a common opening of 60 rows", new Attack(opening(30), later));
        attacks.put("a giant request first and 40 tiny ones", new Attack(giant(0), later));
        attacks.put("a giant request last and 40 tiny ones", new Attack(giant(40), later));
        return attacks;
    }

    Result answer(Attack attack) {
        List<SampledRow> rows = window(attack.pool());
        AdapterAnswer answer = refit.adapt(
                new AdaptationMessage.Adapt(
                        10_000, 0, List.of(new AdaptationMessage.BlockRows(null, rows.size(), rows.size(), 1))),
                new PooledRows(rows, Set.of(), 1, rate, List.of()),
                ServingDecoder.of(explainer.decoder()),
                GateLimits.DEFAULTS);
        AdaptationReport report = answer.report();
        AdapterAnswer.Publication publication = answer.publication();
        GateVerdict gate = report.gate();
        return new Result(
                report.outcome().label(),
                gate == null ? null : gate.gain(),
                publication == null ? null : truth(publication.decoder(), attack.later()),
                report.reason());
    }

    private double truth(Decoder decoder, List<List<SampledRow>> later) {
        SampleRows rows = SampleRows.of(
                explainer.encoder(), later.stream().flatMap(List::stream).toList(), explainer.targetWidth());
        double before = Reconstruction.of(explainer.decoder(), rows.codes(), rows.targets())
                .fvu();
        return 1.0 - Reconstruction.of(decoder, rows.codes(), rows.targets()).fvu() / before;
    }

    /**
     * Returns copies that say something else after a third of their rows: from there on all rows of a copy are moved at
     * random, by a share of the standard deviation of each coordinate.
     */
    private List<List<SampledRow>> nearCopies(int prompts, double moved) {
        double[] deviation = deviation();
        Random random = new Random(5);
        return IntStream.range(0, 40)
                .mapToObj(copy -> {
                    List<SampledRow> prompt = one.get(copy % prompts);
                    float[] move = new float[deviation.length];
                    for (int j = 0; j < move.length; j++) {
                        move[j] = (float) (moved * deviation[j] * random.nextGaussian());
                    }
                    return IntStream.range(0, prompt.size())
                            .mapToObj(
                                    row -> row < prompt.size() / 3 ? prompt.get(row) : moved(prompt.get(row), move, 1))
                            .toList();
                })
                .toList();
    }

    /** Returns copies each of whose rows is moved on its own. */
    private List<List<SampledRow>> noisy(double moved) {
        double[] deviation = deviation();
        Random random = new Random(5);
        return IntStream.range(0, 40)
                .mapToObj(copy -> one.get(0).stream()
                        .map(row -> {
                            float[] move = new float[deviation.length];
                            for (int j = 0; j < move.length; j++) {
                                move[j] = (float) (moved * deviation[j] * random.nextGaussian());
                            }
                            return moved(row, move, 1);
                        })
                        .toList())
                .toList();
    }

    private static SampledRow moved(SampledRow row, float[] move, float times) {
        float[] values = row.activation().clone();
        for (int j = 0; j < values.length; j++) {
            values[j] += times * move[j];
        }
        return new SampledRow(row.hash(), row.request(), row.timestampMs(), values, null);
    }

    private double[] deviation() {
        List<SampledRow> rows = one.stream().flatMap(List::stream).toList();
        double[] sum = new double[explainer.inputWidth()];
        double[] squares = new double[sum.length];
        for (SampledRow row : rows) {
            for (int j = 0; j < sum.length; j++) {
                sum[j] += row.activation()[j];
                squares[j] += row.activation()[j] * row.activation()[j];
            }
        }
        for (int j = 0; j < sum.length; j++) {
            double mean = sum[j] / rows.size();
            squares[j] = Math.sqrt(squares[j] / rows.size() - mean * mean);
        }
        return squares;
    }

    private static List<List<SampledRow>> joined(List<List<SampledRow>> first, List<List<SampledRow>> then) {
        return Stream.concat(first.subList(0, 20).stream(), then.subList(0, 20).stream())
                .toList();
    }

    private List<List<SampledRow>> inTurn() {
        return IntStream.range(0, 40)
                .mapToObj(i -> (i % 2 == 0 ? one : other).get(i / 2))
                .toList();
    }

    private List<List<SampledRow>> halves(int from, int count) {
        return IntStream.range(from, from + count)
                .mapToObj(i -> Stream.concat(
                                one.get(i).subList(0, one.get(i).size() / 2).stream(),
                                other.get(i).subList(0, other.get(i).size() / 2).stream())
                        .toList())
                .toList();
    }

    /** Moves the first row of each request far along one direction, as a model does with first tokens. */
    private List<List<SampledRow>> longFirst(List<List<SampledRow>> requests, int factor) {
        float[] direction = one.get(0).get(0).activation();
        return requests.stream()
                .map(request -> Stream.concat(
                                Stream.of(moved(request.get(0), direction, factor)),
                                request.stream().skip(1))
                        .toList())
                .toList();
    }

    /** Moves every third row along one direction, so that it is less than ten times as long as others. */
    private List<List<SampledRow>> longThird(List<List<SampledRow>> requests) {
        float[] direction = one.get(0).get(0).activation();
        return requests.stream()
                .map(request -> IntStream.range(0, request.size())
                        .mapToObj(row -> row % 3 == 0 ? moved(request.get(row), direction, 8) : request.get(row))
                        .toList())
                .toList();
    }

    private List<List<SampledRow>> opening(int count) {
        List<SampledRow> opening = one.get(one.size() - 1).subList(0, 60);
        return one.subList(0, count).stream()
                .map(request ->
                        Stream.concat(opening.stream(), request.stream()).toList())
                .toList();
    }

    /** Returns requests of six rows each, and the rows of 15 requests under one name at a place among them. */
    private List<List<SampledRow>> giant(int place) {
        List<List<SampledRow>> pool = new ArrayList<>();
        for (int tiny = 0; tiny < 40; tiny++) {
            List<SampledRow> request = one.get(15 + tiny % 15);
            int from = tiny / 15 * 30;
            pool.add(request.subList(from, from + 6));
        }
        pool.add(place, one.subList(0, 15).stream().flatMap(List::stream).toList());
        return pool;
    }

    /** Requests one after another under names of their own, sampled by the hashes of their rows. */
    private List<SampledRow> window(List<List<SampledRow>> requests) {
        List<SampledRow> rows = new ArrayList<>();
        for (int request = 0; request < requests.size(); request++) {
            for (int row = 0; row < requests.get(request).size(); row++) {
                rows.add(new SampledRow(
                        RowSample.hash(request, row),
                        RowSample.requestHash("r" + request),
                        request,
                        requests.get(request).get(row).activation(),
                        null));
            }
        }
        Collections.sort(rows, Comparator.comparingLong(SampledRow::hash));
        return rows.subList(0, (int) Math.round(rate * rows.size()));
    }
}
